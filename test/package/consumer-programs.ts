// Programs of people who have installed the package.

export const PROGRAM = `
import { createPlantStoreClient, RequestError } from 'plantstore/client'

const [baseUrl, token, first] = process.argv.slice(2)
const client = createPlantStoreClient({ baseUrl, token })
const id = BigInt(first)
const { etag } = await client.createPlant({ id, name: 'Açaí palm', tag: 'palm' })
const plant = await client.getPlant(id)
const taken = await client.createPlant({ id, name: 'other' }).catch((error) => error)
const names = []
for await (const { name } of client.listPlants({ after: id - 1n })) names.push(name)
console.log(plant.id === id, plant.etag === etag, taken instanceof RequestError, taken.code, names.join())
`

export const TYPED_PROGRAM = `
import { createPlantStoreClient, RequestError, type NewPlant, type StoredPlant } from 'plantstore/client'

const client = createPlantStoreClient({ baseUrl: new URL('http://127.0.0.1:8080'), token: async () => 'secret' })
const plant: NewPlant = { id: 9007199254740993n, name: 'Açaí palm' }
const etag: string = (await client.createPlant(plant, { idempotencyKey: 'a' })).etag
const read = await client.getPlant(plant.id, { signal: new AbortController().signal })
const name: string | undefined = read?.name
const known: 'unchanged' | undefined | { etag: string } = await client.getPlant(1n, { ifNoneMatch: etag })
const listed: StoredPlant[] = []
for await (const one of client.listPlants({ tag: 'palm' })) listed.push(one)
for await (const page of client.listPlants().pages()) listed.push(...page)
for await (const one of client.exportPlants({ q: 'palm' })) listed.push(one)
const bytes: ReadableStream<Uint8Array> = await client.exportPlants({ format: 'csv', bom: true })
const report = await client.importPlants([plant], { onConflict: 'skip', onError: ({ line, id }) => [line, id] })
const failed: number = (await client.importPlants(bytes, { format: 'csv', idStart: 1n })).failed + report.created
const scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[] =
  (await client.getOwnToken()).scopes
const codeOf = (error: unknown): number | undefined => error instanceof RequestError ? error.code : undefined

// @ts-expect-error An id is a bigint.
await client.createPlant({ id: 42, name: 'Quercus robur' })
// @ts-expect-error A plant has a name.
await client.createPlant({ id: 42n })
// @ts-expect-error There may be no such plant.
;(await client.getPlant(1n)).name
// @ts-expect-error A tag is a text.
await client.replacePlant(1n, { name: 'a', tag: null })
// @ts-expect-error Columns are those of a file.
await client.importPlants([plant], { columns: ['name'] })
// @ts-expect-error No such scope.
await client.createToken({ scopes: ['plants:eat'] })
export { bytes, codeOf, failed, known, listed, name, scopes }
`
