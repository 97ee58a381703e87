import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../../src/config/read-config.ts'
import type { Environment } from '../../../src/config/setting.ts'
import { serve } from '../../../src/serve.ts'

/** A token with every scope that each service started here knows. */
export const TOKEN = 'test-token-with-every-scope'

/** Settings of a service that rejects nothing on a busy machine. */
export const PATIENT: Environment & Record<string, string> = {
  PLANTSTORE_WRITE_LAG_MAX_MS: '600000',
  PLANTSTORE_EVENT_LOOP_LAG_MAX_MS: '600000',
}

/** The end of a test, or of a file of tests: a TestContext, or `{ after }` of node:test itself. */
export interface Lifetime {
  after(finish: () => void | Promise<void>): void
}

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

export interface StartedApp {
  url: string
  port: number
  /** The store: its file, or the URL of its database. */
  database: string
  /** What the service logged so far, a line an entry. */
  log: Record<string, unknown>[]
  /** A request with the token, unless `headers` says otherwise; `authorization: ''` sends none. */
  fetch(path: string, init?: Init): Promise<Response>
  /** `fetch` with a body of JSON text, which is sent as it stands. */
  send(method: string, path: string, json: string, headers?: Record<string, string>): Promise<Response>
  stop(): Promise<void>
}

/** A folder of the test's own, which goes when the test ends. */
export function temporaryFolder(test: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-test-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * An empty store of the test's own, as the setting `database` names it: a file, or a database of the server
 * whose URL is in TEST_DATABASE_SERVER.
 */
export async function emptyDatabase(test: Lifetime): Promise<string> {
  const server = process.env.TEST_DATABASE_SERVER
  if (server === undefined) return join(temporaryFolder(test), 'plants.db')
  // Loaded where it is used: most runs need none.
  const { default: postgres } = await import('postgres')
  const sql = postgres(server, { max: 1 })
  const name = `app_${randomUUID().replaceAll('-', '')}`
  try {
    await sql.unsafe(`CREATE DATABASE ${name}`)
  } finally {
    await sql.end()
  }
  const url = new URL(server)
  url.pathname = name
  return url.href
}

/** Runs the real service on a free port over a store of its own; it stops when the test ends. */
export async function startApp(test: Lifetime, settings: Environment = {}): Promise<StartedApp> {
  const database = settings.PLANTSTORE_DATABASE ?? (await emptyDatabase(test))
  const log: Record<string, unknown>[] = []
  const config = readConfig(
    {},
    {
      PLANTSTORE_PORT: '0',
      PLANTSTORE_FIXED_TOKEN: TOKEN,
      ...PATIENT,
      ...settings,
      PLANTSTORE_DATABASE: database,
    },
  )
  const service = await serve(
    config,
    pino({ level: config.logLevel }, { write: (line) => void log.push(JSON.parse(line)) }),
  )
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= service.stop()
    return stopped
  }
  test.after(stop)
  const app: StartedApp = {
    url: service.url,
    port: Number(new URL(service.url).port),
    database,
    log,
    fetch(path, init = {}) {
      const headers: Record<string, string> = { authorization: `Bearer ${TOKEN}`, ...init.headers }
      if (headers.authorization === '') delete headers.authorization
      return fetch(service.url + path, { ...init, headers })
    },
    send: (method, path, json, headers = {}) =>
      app.fetch(path, { method, body: json, headers: { 'content-type': 'application/json', ...headers } }),
    stop,
  }
  return app
}
