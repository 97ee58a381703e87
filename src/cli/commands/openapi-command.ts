import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { print } from '../output/standard-output.ts'

interface OpenapiFlags extends ServiceFlags {
  yaml?: true
}

const TIMEOUT_MS = 30_000

/** `plantstore openapi`: how a service describes itself. */
export function addOpenapiCommand(program: Command): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI document of a service, which needs no token')
    .option('--yaml', 'as YAML instead of JSON')
  addServiceOptions(command, { isPublic: true })
    .addHelpText('after', '\nExample:\n  plantstore openapi --yaml > plantstore.yaml')
    .action(({ yaml, ...flags }: OpenapiFlags) =>
      callService(
        flags,
        async ({ url, signal }) => {
          const text = await fetchDocument(`${url}/openapi.${yaml ? 'yaml' : 'json'}`, url, signal)
          await print(text.endsWith('\n') ? text : `${text}\n`)
        },
        { isPublic: true },
      ),
    )
}

async function fetchDocument(address: string, url: string, signal: AbortSignal): Promise<string> {
  const { RequestError } = await import('../../client/request-error.ts')
  let answer: Response
  try {
    answer = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) })
    if (answer.ok && /openapi|json|yaml/.test(answer.headers.get('content-type') ?? ''))
      return await answer.text()
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new RequestError(`The connection to ${url} failed: ${cause}`, { kind: 'connection', cause })
  }
  throw new CommandFailure(`There is no OpenAPI document at ${address}. Is ${url} where the service is?`)
}
