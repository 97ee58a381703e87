import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { sharedVariables } from '../shared-variables.ts'

/** What makes and runs a server. Debian puts none of it on the PATH. */
const SERVER_PROGRAMS = ['initdb', 'postgres']
/** What asks a server; it need not be of the same version. */
const CLIENT_PROGRAMS = ['pg_isready', 'psql']
/** The folder of another installation than the one that is found, to try a version (CONTRIBUTING.md). */
const CHOSEN = process.env.TEST_POSTGRES_FOLDER
/** Where Debian keeps each major version. */
const PACKAGED = '/usr/lib/postgresql'
/** PostgreSQL does not run as root, so root's tests run it as the first of these that exists. */
const ACCOUNTS = ['postgres', 'nobody']

/** The user that the programs run as; empty unless the tests run as root. */
export interface Account {
  uid?: number
  gid?: number
}

/** Behind a link are programs that lie beside it and are linked nowhere. */
function foldersOnPath(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const linked = folders
    .map((folder) => join(folder, 'postgres'))
    .filter((program) => existsSync(program))
    .map((program) => dirname(realpathSync(program)))
  return [...linked, ...folders]
}

function packagedFolders(): string[] {
  if (!existsSync(PACKAGED)) return []
  return readdirSync(PACKAGED)
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(PACKAGED, version, 'bin'))
}

function findAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ACCOUNTS) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

function findFolder(candidates: readonly string[], programs: readonly string[]): string | undefined {
  return candidates.find((candidate) => programs.every((program) => existsSync(join(candidate, program))))
}

const found = [...foldersOnPath(), ...packagedFolders()]
const serverFolder = findFolder(CHOSEN === undefined ? found : [CHOSEN], SERVER_PROGRAMS)
const clientFolder = findFolder(CHOSEN === undefined ? found : [CHOSEN, ...found], CLIENT_PROGRAMS)
const account = findAccount()

if (CHOSEN !== undefined && serverFolder === undefined) {
  throw new Error(`TEST_POSTGRES_FOLDER lacks ${SERVER_PROGRAMS.join(' or ')}: ${CHOSEN}`)
}

function whyMissing(): string | undefined {
  if (process.env[sharedVariables.quick] !== undefined) return 'a quick run has no PostgreSQL'
  if (serverFolder === undefined) return 'there is no PostgreSQL server (apt-get install postgresql)'
  if (clientFolder === undefined) return 'there is no psql (apt-get install postgresql-client)'
  if (account === undefined)
    return `root cannot run PostgreSQL, and there is no user ${ACCOUNTS.join(' or ')}`
  return undefined
}

/** Why no PostgreSQL can be started here, as the `skip` of a test; undefined when one can. Never set in CI. */
export const postgresMissing = whyMissing()

// A run that decides whether a change lands must not pass because half of it was skipped.
if (postgresMissing !== undefined && process.env.CI) throw new Error(`In CI, ${postgresMissing}`)

/** Whom the programs run as. Throws when there is no PostgreSQL. */
export function postgresAccount(): Account {
  if (account === undefined) throw new Error(postgresMissing)
  return account
}

/** The path of a program of PostgreSQL. Throws when there is none. */
export function postgresProgram(name: string): string {
  const folder = SERVER_PROGRAMS.includes(name) ? serverFolder : clientFolder
  if (folder === undefined) throw new Error(postgresMissing)
  return join(folder, name)
}

/** What a program needs of the environment. Messages are in English, whatever the machine speaks. */
export function postgresEnvironment(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', HOME: home }
}

/**
 * Runs a program in a folder as the account and gives what it wrote to stdout, without the last line's end.
 * Throws, with what it wrote to stderr, when it fails.
 */
export async function runProgram(program: string, parameters: string[], home: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, parameters, {
    cwd: home,
    env: postgresEnvironment(home),
    ...postgresAccount(),
  })
  return stdout.replace(/\n$/, '')
}
