import { join } from 'node:path'
import { newFolder } from './contender.ts'
import type { Engine } from './options.ts'

/** PostgreSQL's own default; the tests run with less. */
const SHARED_BUFFERS = '128MB'

/** Where the stores of a run are. */
export interface Stores {
  /** Rows for the table of what the numbers depend on. */
  about: [string, string][]
  /** Makes an empty store; what the setting `database` has to be for it. */
  make(): Promise<string>
  close(): Promise<void>
}

/** Stores of an engine: files in the work folder, or databases of a PostgreSQL cluster made for this run. */
export async function openStores(engine: Engine, workFolder: string): Promise<Stores> {
  if (engine === 'sqlite') {
    return {
      about: [],
      make: async () => join(newFolder(workFolder), 'plants.db'),
      close: async () => {},
    }
  }
  // Loaded where it is used: it wants an installation of PostgreSQL.
  const { startPostgres } = await import('../test/support/postgres/postgres-server.ts')
  const ends: (() => void | Promise<void>)[] = []
  const server = await startPostgres(
    { after: (end) => void ends.push(end) },
    { settings: { shared_buffers: SHARED_BUFFERS, fsync: 'on' } },
  )
  const version = await server.query('SHOW server_version')
  const fsync = await server.query('SHOW fsync')
  const commit = await server.query('SHOW synchronous_commit')
  return {
    about: [
      [
        'PostgreSQL',
        `${version}, on the same machine, fsync ${fsync}, synchronous_commit ${commit}, shared_buffers ${SHARED_BUFFERS}`,
      ],
    ],
    make: () => server.createDatabase(),
    async close() {
      for (const end of ends) await end()
    },
  }
}
