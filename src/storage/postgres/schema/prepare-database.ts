import { SetupError } from '../../../errors.ts'
import { withinTime } from '../../../load/within-time.ts'
import type { StorageOptions } from '../../storage.ts'
import { type Sql, withSingleConnection } from '../connection/client.ts'
import { createConnector } from '../connection/connector.ts'
import { codeOf, timeoutError } from '../connection/failure.ts'
import { describeTarget, type PostgresTarget, parsePostgresUrl } from '../connection/url.ts'

/** The oldest server that this is tested with. */
const SERVER_VERSION_MIN = 15

/** How to reach the database of a URL. Throws a SetupError when the URL cannot be used. */
export function connectionOptions(url: string, options: StorageOptions) {
  const target = parsePostgresUrl(url)
  return {
    target,
    connector: createConnector(target, options.postgresConnectTimeoutMs),
    connectTimeoutMs: options.postgresConnectTimeoutMs,
    prepare: options.postgresPrepare,
  }
}

/**
 * Runs what is done once, before the store is used, on a connection of its own to a server that can keep it.
 * Throws a SetupError that says in a line what to mend, and no password.
 */
export async function withDatabase<Result>(
  connection: ReturnType<typeof connectionOptions>,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  try {
    return await withSingleConnection(connection, async (sql) => {
      await withinTime(checkServer(sql), connection.connectTimeoutMs, () => timeoutError('CONNECT_TIMEOUT'))
      return await work(sql)
    })
  } catch (error) {
    if (error instanceof SetupError) throw error
    const { target } = connection
    throw new SetupError(
      `The database ${describeTarget(target)} cannot be opened: ${reasonOf(error, target)}.`,
    )
  }
}

async function checkServer(sql: Sql): Promise<void> {
  const [{ encoding, version } = { encoding: '', version: 0 }] = await sql<
    { encoding: string; version: number }[]
  >`SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num')::integer AS version`
  if (encoding !== 'UTF8') {
    throw new SetupError(`The database is encoded in ${encoding}: names of plants need one in UTF8.`)
  }
  if (version < SERVER_VERSION_MIN * 10_000) {
    throw new SetupError(
      `The server has version ${Math.floor(version / 10_000)} of PostgreSQL: ${SERVER_VERSION_MIN} is the oldest that works.`,
    )
  }
}

/** Why the database cannot be opened, in words that name what to mend and hold no password. */
function reasonOf(error: unknown, { user, database }: PostgresTarget): string {
  const code = codeOf(error)
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host has no address'
    case 'CONNECT_TIMEOUT':
      return 'it did not answer in time'
    case 'STANDBY':
      return 'it is a standby, which stores nothing'
    case '28P01':
    case '28000':
      return `it does not let ${user} in: check user and password`
    case '3D000':
      return `there is no database ${database}`
    case '42501':
      return `${user} may not do what a migration needs (${String((error as Error).message)})`
    default:
      return String((error as Error).message)
  }
}
