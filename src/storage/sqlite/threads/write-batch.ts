import type { StoredPlant } from '../../../plants/plant.ts'
import type { CreateOutcome } from '../../../plants/plant-store.ts'
import type { StoredToken } from '../../../tokens/token.ts'
import {
  charactersOf as charactersOfPlant,
  type PlantWrite,
  type PlantWriteOutcome,
} from '../../batching/plant-write.ts'
import { type ContentArrays, charactersIn, createContentArrays, putContent } from '../../plant-columns.ts'
import type { HashedToken, StoredIdempotencyKey } from '../../storage.ts'
import { filesMovedError, storageError } from '../connection/failure.ts'
import type { Thread } from './thread.ts'

/** A write on its way to the writer thread. */
export type Write =
  | PlantWrite
  | { kind: 'create-token' | 'create-first-token'; token: StoredToken; hash: string }
  | { kind: 'rotate-token'; id: string; hash: string; graceEndsAtMs: number | undefined }
  | { kind: 'revoke-token'; id: string }
  | { kind: 'add-plants'; plants: readonly StoredPlant[] }
  | { kind: 'add-keys'; keys: readonly StoredIdempotencyKey[] }
  | ({ kind: 'add-token' } & HashedToken)
  | { kind: 'record-token-use'; id: string; atMs: number }

export type WriteOutcome = PlantWriteOutcome | { outcome: 'done' | 'absent' }

/**
 * A batch as it is sent to the thread. Plain creates, nearly all of the load, are columns: an object for each row costs
 * as much to copy as to insert. All other writes are in `others`, by their index in the batch.
 */
export interface WriteBatch {
  ids: BigInt64Array
  content: ContentArrays
  times: Float64Array
  versions: Float64Array
  others: Map<number, Write>
}

/**
 * The reply to a batch. `created` is 1 for a plain create, or 0 if its id was taken; `others` has the other outcomes by
 * index. Or the failure of the whole batch.
 */
export type WriteReply =
  | { created: Uint8Array; others: Map<number, WriteOutcome> }
  | { failure: { errcode: number | undefined; message: string } }
  /** The files of the database are moved: none of the batch was stored, or all of it in files without a name. */
  | { moved: 'none' | 'unknown' }

const TAKEN: CreateOutcome = { outcome: 'taken' }

/** The characters of a write's content. */
export function charactersOf(write: Write): number {
  switch (write.kind) {
    case 'add-plants':
      return write.plants.reduce((sum, plant) => sum + charactersIn(plant), 0)
    case 'add-keys':
      return write.keys.reduce((sum, { key, fingerprint }) => sum + key.length + fingerprint.length, 0)
    case 'add-token':
    case 'create-token':
    case 'create-first-token':
    case 'rotate-token':
    case 'revoke-token':
    case 'record-token-use':
      return 0
    default:
      return charactersOfPlant(write)
  }
}

/** Commits batches in the writer thread, each in one transaction. */
export function createBatchCommits(writer: Pick<Thread<WriteBatch, WriteReply>, 'call'>) {
  let commits = 0
  return {
    /** Batches that were committed or failed, counted before their writes settle. */
    commits: () => commits,
    /** Fulfils with an outcome for each write. If it rejects (AppError), none is stored. */
    async commit(writes: readonly Write[]): Promise<WriteOutcome[]> {
      const reply = await writer.call(encodeBatch(writes)).catch((error: unknown) => ({ failure: error }))
      commits++
      if ('failure' in reply) throw storageError(reply.failure)
      if ('moved' in reply) throw filesMovedError(reply.moved)
      return decodeReply(reply, writes)
    },
  }
}

function encodeBatch(writes: readonly Write[]): WriteBatch {
  const batch: WriteBatch = {
    ids: new BigInt64Array(writes.length),
    content: createContentArrays(writes.length),
    times: new Float64Array(writes.length),
    versions: new Float64Array(writes.length),
    others: new Map(),
  }
  for (let at = 0; at < writes.length; at++) {
    const write = writes[at] as Write
    if (write.kind === 'create' && write.idempotency === undefined) {
      batch.ids[at] = write.id
      putContent(batch.content, at, write.content)
      batch.times[at] = write.atMs
      batch.versions[at] = write.version
    } else {
      batch.others.set(at, write)
    }
  }
  return batch
}

function decodeReply(
  reply: Extract<WriteReply, { created: unknown }>,
  writes: readonly Write[],
): WriteOutcome[] {
  return writes.map((write, at) => {
    const other = reply.others.get(at)
    if (other !== undefined) return other
    return reply.created[at] === 1 && write.kind === 'create'
      ? { outcome: 'created', version: write.version }
      : TAKEN
  })
}
