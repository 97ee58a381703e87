import type { StoredPlant } from '../../../src/plants/plant.ts'
import type { Idempotency } from '../../../src/plants/plant-store.ts'
import type { SingleWrite, WriteOf } from '../../../src/storage/batching/plant-write.ts'

export const TTL_MS = 60_000
export const KEY: Idempotency = { caller: 'gardener', key: 'key-1', fingerprint: 'one' }
export const STORED: StoredPlant = {
  id: 1n,
  name: 'Rosa',
  tag: 'shrub',
  createdAtMs: 1_000,
  updatedAtMs: 2_000,
  version: 7,
}

export function create(write: Partial<WriteOf<'create'>> = {}): SingleWrite {
  return { kind: 'create', id: 1n, content: { name: 'Rosa alba' }, atMs: 3_000, version: 8, ...write }
}

export function replace(write: Partial<WriteOf<'replace'>> = {}): SingleWrite {
  const content = { name: 'Rosa alba' }
  return { kind: 'replace', id: 1n, content, atMs: 3_000, version: 8, precondition: {}, ...write }
}

export function update(write: Partial<WriteOf<'update'>> = {}): SingleWrite {
  const change = { name: 'Rosa alba' }
  return { kind: 'update', id: 1n, change, atMs: 3_000, version: 8, precondition: {}, ...write }
}

export function remove(write: Partial<WriteOf<'delete'>> = {}): SingleWrite {
  return { kind: 'delete', id: 1n, precondition: {}, ...write }
}
