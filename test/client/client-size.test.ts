import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** 6 kB without the row scanner, by which imports are divided between rows. */
const BYTES_MAX = 8_500

/** What a bundler makes of a program that uses the client, for a page. */
async function bundle(program: string): Promise<{ text: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
  })
  return { text: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) }
}

const FROM = "from './src/client/plant-store-client.ts'"

test('the client takes less than 8.5 kB gzipped, and needs only the row scanner', async () => {
  // The table of codes is for programs that show what a code means.
  const { text, inputs } = await bundle(`export { createPlantStoreClient, RequestError } ${FROM}`)
  const bytes = gzipSync(text, { level: 9 }).length
  assert.ok(bytes < BYTES_MAX, `${bytes} bytes`)
  assert.ok(bytes > 2_000, 'it is all there')
  const others = inputs.filter((file) => file !== '<stdin>' && !file.startsWith('src/client/'))
  const scanner = ['row-scanner', 'table-dialect'].map((name) => `src/plants/import/${name}.ts`)
  assert.deepEqual(others.sort(), scanner)
})

test('unused functions are omitted from a bundle', async () => {
  const { text } = await bundle(`import { RequestError } ${FROM}\nglobalThis.error = RequestError`)
  assert.ok(text.length < 800, `${text.length} characters`)
  assert.doesNotMatch(text, /fetch|40901/)
})
