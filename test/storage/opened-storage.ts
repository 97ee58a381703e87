import { after, before, beforeEach } from 'node:test'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import type { Storage, StorageOptions } from '../../src/storage/storage.ts'
import type { TokenStore } from '../../src/tokens/token-store.ts'

/** Opens an empty storage of one engine, which is closed and gone when its owner, a test say, has ended. */
export type OpenStorage = (
  owner: { after(end: () => Promise<void> | void): void },
  options?: Partial<StorageOptions>,
) => Promise<Storage>

/** What the service opens its storage with by default. */
export const STORAGE_OPTIONS: StorageOptions = {
  idempotencyTtlMs: 24 * 3_600_000,
  queuedWritesMax: 10_000,
  writeLagMaxMs: 150,
  checkOnStart: false,
  migrate: true,
  postgresConnections: 10,
  postgresConnectTimeoutMs: 5_000,
  postgresStatementTimeoutMs: 10_000,
  postgresPrepare: true,
}

/** The storage, closed once: by the test, or else when its owner has ended. */
export function closedInTheEnd(
  owner: { after(end: () => Promise<void> | void): void },
  storage: Storage,
): Storage {
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= storage.close()
    return closed
  }
  owner.after(close)
  return { ...storage, close }
}

/** A clock that stands still until a test advances it. It begins now, since keys are purged by real time. */
export type StandingClock = ReturnType<typeof standingClock>

function standingClock() {
  let timeMs = Date.now()
  return {
    nowMs: () => timeMs,
    advance(byMs: number): void {
      timeMs += byMs
    },
  }
}

export interface SharedStorage {
  readonly plants: PlantStore
  readonly tokens: TokenStore
  readonly clock: StandingClock
}

/**
 * One storage for the tests of a suite, opened once, as that is what takes longest, and emptied before each
 * test. Its clock stands within a test, and moves on between two.
 */
export function shareStorage(open: OpenStorage, options: Partial<StorageOptions> = {}): SharedStorage {
  const clock = standingClock()
  const ends: (() => Promise<void> | void)[] = []
  let storage: Storage | undefined
  const opened = (): Storage => {
    if (storage === undefined) throw new Error('the storage is opened before the first test of its suite')
    return storage
  }
  before(async () => {
    storage = await open({ after: (end) => void ends.push(end) }, { ...options, nowMs: clock.nowMs })
  })
  beforeEach(async () => {
    clock.advance(1000)
    await empty(opened())
  })
  after(async () => {
    for (const end of ends) await end()
  })
  return {
    clock,
    get plants() {
      return opened().plants
    },
    get tokens() {
      return opened().tokens
    },
  }
}

async function empty({ plants, tokens }: Storage): Promise<void> {
  for (let isMore = true; isMore; ) {
    const page = await plants.list({ limit: 1000 })
    await Promise.all(page.plants.map(({ id }) => plants.delete(id)))
    isMore = page.hasMore
  }
  for (const { id } of await tokens.list()) await tokens.revoke(id)
}
