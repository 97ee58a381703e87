import { pino } from 'pino'
import { buildApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config/read-config.ts'
import type { Environment } from '../../../src/config/setting.ts'
import type { BackupTimes } from '../../../src/metrics/backup-metrics.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { emptyDatabase, type Lifetime, PATIENT, TOKEN } from './start-app.ts'

export interface AlteredApp {
  url: string
  port: number
  /** What the service logged so far, a line an entry. */
  log: Record<string, unknown>[]
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** A create of the plant 1. */
  create(headers?: Record<string, string>): Promise<Response>
}

export interface Alteration {
  /** Puts something else in the place of parts of a real storage: what a disk does only once in a while. */
  storage?(real: Storage): Storage
  isDraining?(): boolean
  settings?: Environment
  /** Scheduled backups, if there are to be any. */
  backups?: BackupTimes
  /** The clock of the rate limits. */
  nowMs?(): number
}

/** Runs the HTTP service over an altered storage; it stops when the test ends. */
export async function startAlteredApp(
  test: Lifetime,
  { storage: alter = (real) => real, isDraining = () => false, settings, backups, nowMs }: Alteration,
): Promise<AlteredApp> {
  const config = readConfig({}, { PLANTSTORE_LOG_LEVEL: 'debug', ...PATIENT, ...settings })
  const storage = await openStorage(await emptyDatabase(test), config)
  const log: Record<string, unknown>[] = []
  const app = await buildApp({
    version: '1.2.3',
    storage: alter(storage),
    log: pino({ level: config.logLevel }, { write: (line) => void log.push(JSON.parse(line)) }),
    fixedToken: TOKEN,
    limits: config,
    isDraining,
    backups,
    nowMs,
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  test.after(async () => {
    await app.close()
    await storage.close()
  })
  const authorization = `Bearer ${TOKEN}`
  return {
    url,
    port: Number(new URL(url).port),
    log,
    fetch: (path, init = {}) => fetch(url + path, { ...init, headers: { authorization, ...init.headers } }),
    create: (headers = {}) =>
      fetch(`${url}/plants`, {
        method: 'POST',
        body: '{"id":1,"name":"a"}',
        headers: { authorization, 'content-type': 'application/json', ...headers },
      }),
  }
}
