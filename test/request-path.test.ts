import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countRequestFiles } from '../build/count-request-files.ts'

/** What one reads to follow a request: more than these are a way to get lost. */
const FILES_MAX = 12

test('a plain create runs through 12 files at most, besides the mechanics of the server', async () => {
  const { files } = await countRequestFiles()
  assert.ok(files.includes('src/plants/plant.ts'), 'the files are found')
  assert.ok(files.length <= FILES_MAX, files.join('\n'))
})
