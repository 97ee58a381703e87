import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** What the tests run of an installation; Debian puts only some of it on the PATH. */
const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup', 'pg_isready', 'psql']
/** Where Debian keeps each major version. */
const PACKAGED = '/usr/lib/postgresql'
/** PostgreSQL refuses to be run by root, so root's tests run it as the first of these that exists. */
const ACCOUNTS = ['postgres', 'nobody']

/** The user that the programs run as; empty unless the tests run as root. */
export interface Account {
  uid?: number
  gid?: number
}

function foldersOnPath(): string[] {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'postgres'))
    .filter((program) => existsSync(program))
    .map((program) => dirname(realpathSync(program)))
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

const folder = [...foldersOnPath(), ...packagedFolders()].find((candidate) =>
  PROGRAMS.every((program) => existsSync(join(candidate, program))),
)
const account = findAccount()

function whyMissing(): string | undefined {
  if (folder === undefined) return 'there is no PostgreSQL server (apt-get install postgresql)'
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
  if (account === undefined || folder === undefined) throw new Error(postgresMissing)
  return account
}

/** The path of a program of PostgreSQL. Throws when there is none. */
export function postgresProgram(name: string): string {
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
