import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from './connection.ts'
import type { RunningServer } from './processes.ts'

/** The token that every contender is asked with, whether it looks at it or not. */
export const TOKEN = 'bench-token-with-every-scope'

/** Plants that each contender holds before a load begins: ids from 1 on. */
export const SEEDED_PLANTS = 10_000

/** Something that is put under load. */
export interface Contender extends RunningServer {
  name: string
  /** Of several replicas the others: the connections are spread over all of them. */
  otherUrls?: string[]
  /** What comes before a number of plants to skip, in the path of a page of 100. */
  pagePath: string
}

/** The plant that every load creates, with an id of its own. */
export function newPlantJson(id: number): string {
  return `{"id":${id},"name":"Quercus robur","tag":"tree"}`
}

let usedIds = 1_000_000_000
const IDS_PER_MEASUREMENT = 10_000_000

/** The first of ten million ids that no other measurement of this run uses, all of ten digits. */
export function takeIds(): number {
  usedIds += IDS_PER_MEASUREMENT
  return usedIds
}

/** Sends bodies to POST /plants over 64 connections; throws at the first response that is not 2xx. */
export async function fill(url: string, bodies: Iterator<string>): Promise<void> {
  const send = async () => {
    const connection = await connect(url, TOKEN)
    for (let next = bodies.next(); !next.done; next = bodies.next()) {
      const { status, body } = await connection.request('POST', '/plants', next.value)
      if (status < 200 || status > 299) throw new Error(`${url} rejected a plant with ${status}: ${body}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: 64 }, send))
}

/** The bodies of the plants that each contender holds before a load begins. */
export function* seedBodies(): Generator<string, void, undefined> {
  for (let id = 1; id <= SEEDED_PLANTS; id++) yield newPlantJson(id)
}

/** A folder of its own in the one that the run works in. */
export function newFolder(workFolder: string): string {
  return mkdtempSync(join(workFolder, 'store-'))
}
