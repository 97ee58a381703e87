import type { Command } from 'commander'
import type { PlantStoreClient } from '../../client/plant-store-client.ts'
import { type ClientConfig, readClientConfig, variableOf } from '../../config/read-config.ts'
import type { Environment } from '../../config/setting.ts'
import { CLIENT_SETTINGS } from '../../config/settings.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { untilInterrupted } from './until-interrupted.ts'

export interface ServiceFlags {
  url?: string
  token?: string
}

export interface Service {
  client: PlantStoreClient
  /** Without a slash at the end. */
  url: string
  /** Aborted by Ctrl-C; for every call to the client. */
  signal: AbortSignal
}

/** Bridges a restart of the service, and still fails quickly for a user at a terminal. */
const TRIES_MAX = 3

const SERVER_ERROR = 500

const NO_TOKEN =
  'A token is required: set PLANTSTORE_TOKEN. Create one with "plantstore token create" on the machine of the service.'

/** Adds `--url`, and `--token` unless the command is public. */
export function addServiceOptions(command: Command, { isPublic = false } = {}): Command {
  const { url, token } = CLIENT_SETTINGS
  command.option('--url <url>', `${url.about} (default: ${url.default}) [${variableOf('url')}]`)
  if (isPublic) return command
  return command.option(
    '--token <token>',
    `${token.about}; prefer the variable, as other users can see flags [${variableOf('token')}]`,
  )
}

/**
 * Runs `use` with a client of the service that the flags and the environment name. Throws a CommandFailure if a
 * request fails or the user interrupts it.
 */
export async function callService<Result>(
  { environment }: CommandContext,
  flags: ServiceFlags,
  use: (service: Service) => Promise<Result>,
  { isPublic = false } = {},
): Promise<Result> {
  const { url, token } = configOf(flags, environment)
  if (!isPublic && token === undefined) throw new CommandFailure(NO_TOKEN)
  const { createPlantStoreClient } = await import('../../client/plant-store-client.ts')
  const { isUnreachable, maybeApplied, requestFailure } = await import('./request-failure.ts')
  const outcome = watchOutcome(isUnreachable)
  const client = createPlantStoreClient({
    baseUrl: url,
    token: isPublic ? undefined : token,
    triesMax: TRIES_MAX,
    fetch: outcome.fetch,
  })
  return untilInterrupted(async (signal) => {
    try {
      return await use({ client, url: url.replace(/\/+$/, ''), signal })
    } catch (error) {
      const mayBeApplied = outcome.mayBeApplied()
      if (mayBeApplied && error instanceof CommandFailure && error === signal.reason)
        throw maybeApplied(error)
      throw requestFailure(error, url, mayBeApplied)
    }
  })
}

/**
 * Watches whether the last request was a write that may have been applied: one of its tries was sent and not rejected.
 * The error alone does not show it: the last try may have failed to connect after an earlier one lost its response.
 */
function watchOutcome(isUnreachable: (error: unknown) => boolean) {
  let last = ''
  let isWrite = false
  let isSent = false
  return {
    mayBeApplied: () => isWrite && isSent,
    fetch: (async (input, init) => {
      const request = `${init?.method} ${input}`
      if (request !== last) isSent = false
      last = request
      isWrite = init?.method !== 'GET'
      try {
        const response = await fetch(input, init)
        isSent ||= response.ok || response.status >= SERVER_ERROR
        return response
      } catch (error) {
        isSent ||= !isUnreachable(error)
        throw error
      }
    }) as typeof fetch,
  }
}

function configOf({ url, token }: ServiceFlags, environment: Environment): ClientConfig {
  const flags = { ...(url !== undefined && { url }), ...(token !== undefined && { token }) }
  return readClientConfig(flags, environment)
}
