import type { Command } from 'commander'
import type { PlantStoreClient } from '../../client/plant-store-client.ts'
import { type ClientConfig, readClientConfig, variableOf } from '../../config/read-config.ts'
import { CLIENT_SETTINGS } from '../../config/settings.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { untilInterrupted } from './until-interrupted.ts'

export interface ServiceFlags {
  url?: string
  token?: string
}

export interface Service {
  client: PlantStoreClient
  /** Where it is, without a slash at the end. */
  url: string
  /** Ctrl-C aborts it; every call to the client takes it. */
  signal: AbortSignal
}

/** Somebody waits: a service that is restarted is met again, one that is not there is soon told. */
const TRIES_MAX = 3

const SERVER_ERROR = 500

const NO_TOKEN =
  'No token: put one into PLANTSTORE_TOKEN, or give --token. On the machine of the service, "plantstore token create" makes one.'

/** Adds `--url`, and `--token` unless anybody may do what the command does. */
export function addServiceOptions(command: Command, { isPublic = false } = {}): Command {
  const { url, token } = CLIENT_SETTINGS
  command.option('--url <url>', `${url.about} (default: ${url.default}) [${variableOf('url')}]`)
  if (isPublic) return command
  return command.option(
    '--token <token>',
    `${token.about}; better in the variable: others can read it here, in the list of processes [${variableOf('token')}]`,
  )
}

/**
 * Runs what a command does with a service. Throws a CommandFailure with a line for people for whatever fails
 * on the way there, and when the user interrupts it.
 */
export async function callService<Result>(
  flags: ServiceFlags,
  use: (service: Service) => Promise<Result>,
  { isPublic = false } = {},
): Promise<Result> {
  const { url, token } = configOf(flags)
  if (!isPublic && token === undefined) throw new CommandFailure(NO_TOKEN)
  const { createPlantStoreClient } = await import('../../client/plant-store-client.ts')
  const { isUnreachable, maybeDone, requestFailure } = await import('./request-failure.ts')
  const sending = watchSending(isUnreachable)
  const client = createPlantStoreClient({
    baseUrl: url,
    token: isPublic ? undefined : token,
    triesMax: TRIES_MAX,
    fetch: sending.fetch,
  })
  return untilInterrupted(async (signal) => {
    try {
      return await use({ client, url: url.replace(/\/+$/, ''), signal })
    } catch (error) {
      const mayBeDone = sending.mayBeDone()
      if (mayBeDone && error instanceof CommandFailure && error === signal.reason) throw maybeDone(error)
      throw requestFailure(error, url, mayBeDone)
    }
  })
}

/**
 * Tells whether the last request was a write that may be done: where any try of it was sent, and not refused. The last
 * try may have met nobody, where an earlier one met the service and its answer was lost.
 */
function watchSending(isUnreachable: (error: unknown) => boolean) {
  let last = ''
  let isWrite = false
  let isTaken = false
  return {
    mayBeDone: () => isWrite && isTaken,
    fetch: (async (input, init) => {
      const request = `${init?.method} ${input}`
      if (request !== last) isTaken = false
      last = request
      isWrite = init?.method !== 'GET'
      try {
        const response = await fetch(input, init)
        isTaken ||= response.ok || response.status >= SERVER_ERROR
        return response
      } catch (error) {
        isTaken ||= !isUnreachable(error)
        throw error
      }
    }) as typeof fetch,
  }
}

function configOf({ url, token }: ServiceFlags): ClientConfig {
  const flags = { ...(url !== undefined && { url }), ...(token !== undefined && { token }) }
  return readClientConfig(flags)
}
