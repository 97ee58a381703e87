import type { Contender } from './contender.ts'
import { type Measurement, measureLoad, warmUp } from './load.ts'
import type { BenchOptions, LoadName } from './options.ts'
import { residentMb, untilQuiet } from './processes.ts'
import {
  INSERT_LOOP,
  measureInsertLoop,
  startEcho,
  startOurs,
  startStatementPerRequest,
  startStatementPerRequestTwice,
  startTwoReplicas,
} from './start-contenders.ts'
import { startPeers } from './start-peers.ts'
import type { Stores } from './stores.ts'

/** About as many as share a commit when 64 connections create. */
const LOOP_ROWS_PER_COMMIT = 64

interface ContenderRounds {
  name: string
  rounds: Measurement[]
}

/** What one load showed: ours first, then the others, each with a measurement a round. */
export interface LoadReport {
  load: LoadName
  contenders: ContenderRounds[]
  /** Memory of our service after the last round. */
  residentMb: number
}

/**
 * Measures every contender under one load, round by round (A B C A B C …), so that what the machine does
 * besides hits all of them alike.
 */
export async function benchLoad(
  load: LoadName,
  options: BenchOptions,
  workFolder: string,
  stores: Stores,
): Promise<LoadReport> {
  const contenders: Contender[] = []
  try {
    const ours = await startOurs(stores)
    contenders.push(ours)
    contenders.push(await startEcho(ours))
    if (options.engine === 'postgres') {
      contenders.push(await startStatementPerRequest(stores))
      if (load === 'create') {
        contenders.push(await startTwoReplicas(stores), await startStatementPerRequestTwice(stores))
      }
    }
    if (options.withPeers) contenders.push(...(await startPeers(workFolder)))
    await Promise.all(contenders.map((contender) => warmUp(load, contender, options.seconds)))
    for (const { name, pid } of contenders) await untilQuiet(name, pid)

    const reports: ContenderRounds[] = contenders.map(({ name }) => ({ name, rounds: [] }))
    const insertLoop: ContenderRounds = { name: INSERT_LOOP, rounds: [] }
    const hasInsertLoop = load === 'create' && options.engine === 'sqlite'
    if (hasInsertLoop) reports.push(insertLoop)
    for (let round = 1; round <= options.rounds; round++) {
      process.stderr.write(`${load}: round ${round} of ${options.rounds}\n`)
      for (const [at, contender] of contenders.entries()) {
        reports[at]?.rounds.push(await measureLoad(load, contender, options.seconds))
        await untilQuiet(contender.name, contender.pid)
      }
      if (hasInsertLoop) {
        const perSecond = await measureInsertLoop(workFolder, options.seconds, LOOP_ROWS_PER_COMMIT)
        insertLoop.rounds.push({ perSecond, p50Ms: Number.NaN, p99Ms: Number.NaN })
      }
    }
    return { load, contenders: reports, residentMb: residentMb(ours.pid).now }
  } finally {
    await Promise.all(contenders.map((contender) => contender.stop()))
  }
}
