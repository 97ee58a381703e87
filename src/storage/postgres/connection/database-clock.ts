import type { PostgresClient, Sql } from './client.ts'

/** How often the clock is read: two quartz clocks differ by a few milliseconds after that long. */
const READ_INTERVAL_MS = 60_000

/** The clock of the database. Replicas share it: their own clocks may be minutes apart. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  nowMs(): number
  stop(): void
}

/** Reads the clock now, and again from time to time. Rejects as a read does. */
export async function startDatabaseClock(client: PostgresClient): Promise<DatabaseClock> {
  let ahead = await readAhead(client)
  const timer = setInterval(() => {
    readAhead(client).then(
      (latest) => {
        ahead = latest
      },
      () => {
        // A database that fails is reported by requests. The last reading stays good.
      },
    )
  }, READ_INTERVAL_MS)
  timer.unref()
  return {
    nowMs: () => Math.round(performance.now() + ahead),
    stop: () => clearInterval(timer),
  }
}

/** How far the database's clock is ahead of the process's own, which nobody sets: milliseconds. */
async function readAhead(client: PostgresClient): Promise<number> {
  const startMs = performance.now()
  const databaseMs = await client.read(readClock)
  return databaseMs - (startMs + performance.now()) / 2
}

async function readClock(sql: Sql): Promise<number> {
  const [row] = await sql<{ now: number }[]>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now`
  return row?.now as number
}
