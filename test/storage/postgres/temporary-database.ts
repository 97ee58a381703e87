import { after, before } from 'node:test'
import { openPostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts'
import type { Storage, StorageOptions } from '../../../src/storage/storage.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres-server.ts'
import { closedInTheEnd, type OpenStorage, STORAGE_OPTIONS } from '../opened-storage.ts'

/** A test or a suite: it has a hook for its end. */
interface Owner {
  after(end: () => Promise<void> | void): void
}

/** One server for the tests of a file or a suite, started before the first of them. */
export function sharePostgres(): { readonly server: PostgresServer } {
  let server: PostgresServer | undefined
  const ends: (() => Promise<void> | void)[] = []
  before(async () => {
    server = await startPostgres({ after: (end) => void ends.push(end) })
  })
  after(async () => {
    for (const end of ends) await end()
  })
  return {
    get server() {
      if (server === undefined) throw new Error('the server is started before the first test')
      return server
    },
  }
}

/** Opens the database of a URL, empty or not, until it is closed or its owner has ended. */
export async function openDatabase(
  owner: Owner,
  url: string,
  options: Partial<StorageOptions> = {},
): Promise<Storage> {
  return closedInTheEnd(owner, await openPostgresStorage(url, { ...STORAGE_OPTIONS, ...options }))
}

/** Opens empty databases of a shared server. */
export function emptyDatabases(shared: { readonly server: PostgresServer }): OpenStorage {
  return async (owner, options = {}) => openDatabase(owner, await shared.server.createDatabase(), options)
}
