import { SetupError } from '../../../errors.ts'
import { withinTime } from '../../../load/within-time.ts'
import type { StorageOptions } from '../../storage.ts'
import { type Sql, withSingleConnection } from '../connection/client.ts'
import { createConnector } from '../connection/connector.ts'
import { codeOf, timeoutError } from '../connection/failure.ts'
import { describeTarget, type PostgresTarget, parsePostgresUrl } from '../connection/url.ts'

/** The oldest version of PostgreSQL that is tested. */
const SERVER_VERSION_MIN = 15

/** The options to connect to the database of a URL. Throws a SetupError if the URL cannot be used. */
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
 * Checks the server and runs setup work on a connection of its own. Throws a SetupError of one line that says what to
 * correct, without a password.
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
    throw new SetupError(`The database has the encoding ${encoding}, but must have UTF8.`)
  }
  if (version < SERVER_VERSION_MIN * 10_000) {
    throw new SetupError(
      `The server runs PostgreSQL ${Math.floor(version / 10_000)}: use ${SERVER_VERSION_MIN} or later.`,
    )
  }
}

/** Why the database cannot be opened and what to correct, without a password. */
function reasonOf(error: unknown, { user, database }: PostgresTarget): string {
  const code = codeOf(error)
  switch (code) {
    case 'ECONNREFUSED':
      return 'no server listens there'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host has no address'
    case 'CONNECT_TIMEOUT':
      return 'it did not respond in time'
    case 'STANDBY':
      return 'it is a read-only standby'
    case '28P01':
    case '28000':
      return `the server rejected the user ${user}: check user and password`
    case '3D000':
      return `there is no database ${database}`
    case '42501':
      return `${user} lacks a privilege that the migration needs (${String((error as Error).message)})`
    default:
      return String((error as Error).message)
  }
}
