import { join } from 'node:path'
import { connect } from './connection.ts'
import { fill, newFolder, newPlantJson, SEEDED_PLANTS, seedBodies, TOKEN, takeIds } from './contender.ts'
import { startService } from './start-contenders.ts'

const STARTS = 10

export interface StartReport {
  /** Of each start: milliseconds from the start of the process to the first 200 of a create. */
  milliseconds: number[]
  /** Plants in the store that it starts on. */
  plants: number
}

/** Starts the service again and again on a store that exists, until it has stored a plant. */
export async function benchStart(workFolder: string): Promise<StartReport> {
  const file = join(newFolder(workFolder), 'plants.db')
  const first = await startService(file)
  await fill(first.url, seedBodies())
  await first.stop()

  const firstId = takeIds()
  const milliseconds: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const startMs = performance.now()
    const server = await startService(file)
    const connection = await connect(server.url, TOKEN)
    const { status, body } = await connection.request('POST', '/plants', newPlantJson(firstId + start))
    milliseconds.push(performance.now() - startMs)
    connection.close()
    await server.stop()
    if (status !== 200) throw new Error(`A create after the start got a response with ${status}: ${body}`)
  }
  return { milliseconds, plants: SEEDED_PLANTS }
}
