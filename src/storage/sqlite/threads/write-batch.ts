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

/** A write on its way to the thread that owns the writing connection. */
export type Write =
  | PlantWrite
  | { kind: 'create-token' | 'create-first-token'; token: StoredToken; hash: string }
  | { kind: 'rotate-token'; id: string; hash: string; graceEndsAtMs: number | undefined }
  | { kind: 'revoke-token'; id: string }
  | { kind: 'add-plants'; plants: readonly StoredPlant[] }
  | { kind: 'add-keys'; keys: readonly StoredIdempotencyKey[] }
  | ({ kind: 'add-token' } & HashedToken)
  | { kind: 'note-token-use'; id: string; atMs: number }

export type WriteOutcome = PlantWriteOutcome | { outcome: 'done' | 'absent' }

/**
 * A batch as it crosses to the thread: plain creates, nearly all of the load, as columns, since an object a
 * row costs as much to copy as to insert; whatever else there is in `others`, by its place in the batch.
 */
export interface WriteBatch {
  ids: BigInt64Array
  content: ContentArrays
  times: Float64Array
  versions: Float64Array
  others: Map<number, Write>
}

/**
 * The way back: for plain creates 1, or 0 where the id was taken; the rest by its place; or the failure of
 * the batch.
 */
export type WriteReply =
  | { created: Uint8Array; others: Map<number, WriteOutcome> }
  | { failure: { errcode: number | undefined; message: string } }
  /** The files of the database are moved: none of the batch was stored, or all of it in files without a name. */
  | { moved: 'none' | 'unknown' }

const TAKEN: CreateOutcome = { outcome: 'taken' }

/** How much text a write carries. */
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
    case 'note-token-use':
      return 0
    default:
      return charactersOfPlant(write)
  }
}

/** Commits batches in the thread of the writer, each in one transaction. */
export function createBatchCommits(writer: Pick<Thread<WriteBatch, WriteReply>, 'call'>) {
  let commits = 0
  return {
    /** Batches that have ended, committed or failed, before their writes are acknowledged. */
    commits: () => commits,
    /** One outcome for each write; rejects with an AppError, and then none of them is stored. */
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
