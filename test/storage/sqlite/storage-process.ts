import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { NewPlant } from '../../../src/plants/plant.ts'
import type { CreateOutcome, Idempotency } from '../../../src/plants/plant-store.ts'
import { prepareFile } from '../../../src/storage/sqlite/connection/open-connection.ts'
import { openSqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { STORAGE_OPTIONS } from '../opened-storage.ts'

// Run as a program this is a process that works on a storage on request; imported it starts such
// processes.

/** Requests to the process, and its replies. Times in milliseconds since 1970. */
interface Calls {
  /** Prepares the file at exactly `atMs`: undefined when it could, or why it could not. */
  prepare: { ask: { path: string; atMs: number }; reply: string | undefined }
  open: { ask: { path: string }; reply: undefined }
  /** Creates all of these at once. */
  create: { ask: { plants: NewPlant[]; idempotency?: Idempotency }; reply: CreateOutcome[] }
  nameOf: { ask: { id: bigint }; reply: string | undefined }
  close: { ask: Record<never, never>; reply: undefined }
}

export interface StorageProcess {
  ask<Name extends keyof Calls>(name: Name, question: Calls[Name]['ask']): Promise<Calls[Name]['reply']>
}

/** Starts a process of its own that has no storage yet; it ends with the owner. */
export function startStorageProcess(owner: { after(end: () => void): void }): StorageProcess {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), { serialization: 'advanced' })
  owner.after(() => void child.kill('SIGKILL'))
  return {
    ask: (name, question) =>
      new Promise((resolve, reject) => {
        child.once('exit', reject)
        child.once('message', ({ reply }: { reply: never }) => {
          child.off('exit', reject)
          resolve(reply)
        })
        child.send({ name, question })
      }),
  }
}

type Responses = { [Name in keyof Calls]: (question: Calls[Name]['ask']) => Promise<Calls[Name]['reply']> }

function createResponses(): Responses {
  let storage: Storage | undefined
  const opened = (): Storage => {
    if (storage === undefined) throw new Error('open comes first')
    return storage
  }
  return {
    async prepare({ path, atMs }) {
      // Waits awake, as a timer would come a millisecond late and miss the others.
      while (Date.now() < atMs);
      try {
        prepareFile(path, { checkOnStart: false })
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    },
    async open({ path }) {
      storage = await openSqliteStorage(path, STORAGE_OPTIONS)
      return undefined
    },
    create: ({ plants, idempotency }) =>
      Promise.all(plants.map((plant) => opened().plants.create(plant, idempotency))),
    nameOf: async ({ id }) => (await opened().plants.get(id))?.name,
    async close() {
      await opened().close()
      return undefined
    },
  }
}

if (import.meta.main) {
  const responses = createResponses()
  process.on('message', async ({ name, question }: { name: keyof Responses; question: never }) => {
    process.send?.({ reply: await responses[name](question) })
  })
}
