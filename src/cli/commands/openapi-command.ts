import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { print } from '../output/standard-output.ts'

interface OpenapiFlags extends ServiceFlags {
  yaml?: true
}

const TIMEOUT_MS = 30_000

/** `plantstore openapi`: the OpenAPI document of a service. */
export function addOpenapiCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('openapi')
    .description('Print the OpenAPI document of a service')
    .option('--yaml', 'Print YAML instead of JSON')
  addServiceOptions(command, { isPublic: true })
    .addHelpText('after', '\nRequires no token.\n\nExample:\n  plantstore openapi --yaml > plantstore.yaml')
    .action(({ yaml, ...flags }: OpenapiFlags) =>
      callService(
        context,
        flags,
        async ({ url, signal }) => {
          const text = await fetchDocument(`${url}/openapi.${yaml ? 'yaml' : 'json'}`, url, signal)
          await print(context.stdout, text.endsWith('\n') ? text : `${text}\n`)
        },
        { isPublic: true },
      ),
    )
}

async function fetchDocument(address: string, url: string, signal: AbortSignal): Promise<string> {
  const { RequestError } = await import('../../client/request-error.ts')
  let response: Response
  try {
    response = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) })
    if (response.ok && /openapi|json|yaml/.test(response.headers.get('content-type') ?? ''))
      return await response.text()
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new RequestError(`The connection to ${url} failed: ${cause}`, { kind: 'connection', cause })
  }
  throw new CommandFailure(`There is no OpenAPI document at ${address}. Check the URL ${url}.`)
}
