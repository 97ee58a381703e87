import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import type { PlantPage, PlantQuery, PlantStore } from '../../plants/plant-store.ts'
import type { GroupCommit } from '../group-commit.ts'
import { reading, storageError } from './sqlite-connection.ts'
import { readPage, rowToPlant } from './sqlite-rows.ts'
import type { SearchReply, SearchRequest } from './sqlite-searcher.ts'
import type { Thread } from './sqlite-thread.ts'
import type { Write, WriteOutcome } from './write-batch.ts'

/** Searches that may wait for their thread; one more is refused. */
const WAITING_SEARCHES_MAX = 256

const ID_MIN = -(2n ** 63n)

export interface SqlitePlantStoreParts {
  /** Short reads go here, in the main thread. */
  reader: DatabaseSync
  searcher: Thread<SearchRequest, SearchReply>
  writes: GroupCommit<Write, WriteOutcome>
  nowMs: () => number
}

/** Plants in SQLite. What it promises is written at `PlantStore`. */
export function createSqlitePlantStore({
  reader,
  searcher,
  writes,
  nowMs,
}: SqlitePlantStoreParts): PlantStore {
  const selectPlant = reader.prepare('SELECT name, tag, created_at, updated_at FROM plants WHERE id = ?')
  const page = 'SELECT id, name, tag, created_at, updated_at FROM plants WHERE'
  const selectFromStart = reader.prepare(`${page} id >= ? ORDER BY id`)
  const selectAfter = reader.prepare(`${page} id > ? ORDER BY id`)
  const selectTagged = reader.prepare(`${page} tag = ? AND id >= ? ORDER BY id`)
  const selectTaggedAfter = reader.prepare(`${page} tag = ? AND id > ? ORDER BY id`)
  for (const statement of [selectFromStart, selectAfter, selectTagged, selectTaggedAfter]) {
    statement.setReadBigInts(true)
  }

  const nowUs = () => nowMs() * 1000
  /** Each kind of write has its own outcomes; the pairing is kept by `sqlite-write-statements.ts`. */
  const submit = <Outcome>(write: Write) => writes.submit(write) as Promise<Outcome>

  function listById({ limit, afterId, tag }: PlantQuery): PlantPage {
    if (tag === undefined) {
      const rows = afterId === undefined ? selectFromStart.iterate(ID_MIN) : selectAfter.iterate(afterId)
      return readPage(rows, limit)
    }
    const rows =
      afterId === undefined ? selectTagged.iterate(tag, ID_MIN) : selectTaggedAfter.iterate(tag, afterId)
    return readPage(rows, limit)
  }

  async function ask(request: SearchRequest): Promise<Exclude<SearchReply, { failure: string }>> {
    if (searcher.waiting >= WAITING_SEARCHES_MAX) {
      throw new AppError(50301, 'Too many searches are waiting; try again in a moment.')
    }
    const reply = await searcher.call(request)
    if ('failure' in reply) throw storageError(new Error(reply.failure))
    return reply
  }

  return {
    create: ({ id, name, tag = null }, idempotency) =>
      submit(
        idempotency === undefined
          ? { kind: 'create', id, name, tag, atUs: nowUs() }
          : { kind: 'create', id, name, tag, atUs: nowUs(), idempotency },
      ),
    async get(id) {
      const row = reading(() => selectPlant.get(id))
      return row === undefined ? undefined : rowToPlant(row, id)
    },
    async list(query) {
      const { words } = query
      if (words === undefined) return reading(() => listById(query))
      return ((await ask({ kind: 'search', query: { ...query, words } })) as { page: PlantPage }).page
    },
    replace: (id, { name, tag = null }, precondition = {}) =>
      submit({ kind: 'replace', id, name, tag, atUs: nowUs(), precondition }),
    change: (id, change, precondition = {}) =>
      submit({ kind: 'change', id, change, atUs: nowUs(), precondition }),
    delete: (id, precondition = {}) => submit({ kind: 'delete', id, precondition }),
    async countTags(limit) {
      const reply = await ask({ kind: 'count-tags', limit })
      return 'tags' in reply ? reply.tags : []
    },
  }
}
