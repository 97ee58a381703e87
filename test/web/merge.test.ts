import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepStored, mergeDraft } from '../../web/app/plant/merge.ts'

const plant = (name: string, tag?: string) => ({
  id: 1n,
  name,
  ...(tag !== undefined && { tag }),
  createdAt: '2026-04-01T08:30:00.000Z',
  updatedAt: '2026-04-01T08:30:00.000Z',
})
const draft = (name: string, tag: string) => ({ id: '1', name, tag })

test('edits of different fields are merged without a clash', () => {
  assert.deepEqual(mergeDraft(draft('Rosa alba', 'shrub'), plant('Rosa', 'shrub'), plant('Rosa', 'hedge')), {
    draft: draft('Rosa alba', 'hedge'),
    clashes: [],
  })
  assert.deepEqual(mergeDraft(draft('Rosa', ''), plant('Rosa', 'shrub'), plant('Rosa alba', 'shrub')), {
    draft: draft('Rosa alba', ''),
    clashes: [],
  })
})

test('a field that both edited clashes, unless both made the same of it', () => {
  const base = plant('Rosa')
  assert.deepEqual(mergeDraft(draft('Rosa alba', 'shrub'), base, plant('Rosa canina')), {
    draft: draft('Rosa alba', 'shrub'),
    clashes: ['name'],
  })
  assert.deepEqual(mergeDraft(draft('Rosa alba', 'shrub'), base, plant('Rosa alba', 'hedge')), {
    draft: draft('Rosa alba', 'shrub'),
    clashes: ['tag'],
  })
  assert.deepEqual(mergeDraft(draft('Rosa alba', 'hedge'), base, plant('Rosa alba', 'hedge')).clashes, [])
})

test('keeping the stored text of a field keeps the edits of the others', () => {
  assert.deepEqual(
    keepStored(draft('Rosa alba', 'shrub'), plant('Rosa canina', 'hedge'), ['name']),
    draft('Rosa canina', 'shrub'),
  )
})
