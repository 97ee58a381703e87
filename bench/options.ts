import { parseArgs } from 'node:util'

/** Loads that are put on every contender, by what they ask for. */
export const LOAD_NAMES = ['create', 'get', 'list', 'mixed'] as const
/** Scenarios of our service alone. */
const SOLO_NAMES = ['million', 'bulk', 'start', 'overhead', 'overload'] as const
/** What runs on PostgreSQL, too; the others look into the file of the store. */
const POSTGRES_NAMES = [...LOAD_NAMES, 'bulk', 'overhead', 'overload'] as const
const ENGINES = ['sqlite', 'postgres'] as const

export type LoadName = (typeof LOAD_NAMES)[number]
type SoloName = (typeof SOLO_NAMES)[number]
type ScenarioName = LoadName | SoloName
export type Engine = (typeof ENGINES)[number]

export interface BenchOptions {
  rounds: number
  /** How long each measurement of a load lasts. */
  seconds: number
  only: ScenarioName[]
  withPeers: boolean
  /** Whether the results file of the engine is written. */
  write: boolean
  engine: Engine
  /** Plants of the scenarios `million` and `bulk`; fewer only to try them out. */
  plants: number
}

/** What `--help` prints. */
export const USAGE = `npm run bench -- [options]

  --only a,b     of ${[...LOAD_NAMES, ...SOLO_NAMES].join(', ')} (default: all)
  --rounds N     measurements of each contender under each load, of bulk, overhead and overload (default: 7)
  --seconds N    length of one measurement (default: 4)
  --no-peers     ours and the floors only
  --plants N     plants of the scenarios million and bulk (default: 1000000)
  --engine name  what our service stores with: ${ENGINES.join(', ')} (default: sqlite); on postgres only
                 ${POSTGRES_NAMES.join(', ')}, beside the floors
  --write        write bench/results.md, or bench/results-postgres.md
`

/** Reads the command line; throws an Error that says in one line what is wrong with it. */
export function readOptions(args: string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      peers: { type: 'boolean', default: true },
      plants: { type: 'string', default: '1000000' },
      engine: { type: 'string', default: 'sqlite' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const engine = chosen('--engine', [values.engine], ENGINES)[0] ?? 'sqlite'
  const names = engine === 'postgres' ? POSTGRES_NAMES : [...LOAD_NAMES, ...SOLO_NAMES]
  return {
    rounds: countIn('--rounds', values.rounds),
    seconds: countIn('--seconds', values.seconds),
    only:
      values.only === undefined ? [...names] : chosen<ScenarioName>('--only', values.only.split(','), names),
    // They store on their own disk, not in PostgreSQL.
    withPeers: values.peers && engine === 'sqlite',
    write: values.write,
    engine,
    plants: countIn('--plants', values.plants),
  }
}

function countIn(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Error(`${flag} must be a whole number from 1 on, not "${text}".`)
  return Number(text)
}

function chosen<Name extends string>(flag: string, wanted: string[], known: readonly Name[]): Name[] {
  return wanted.map((text) => {
    const name = known.find((one) => one === text)
    if (name === undefined) throw new Error(`${flag} knows ${known.join(', ')}, but not "${text}".`)
    return name
  })
}
