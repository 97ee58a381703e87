import { type Command, Option } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { SetupError } from '../../errors.ts'
import { openStorage } from '../../storage/open-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import { rotateToken } from '../../tokens/routes/token-rotation-routes.ts'
import { issueToken, parseNewToken } from '../../tokens/routes/token-routes.ts'
import {
  GRACE_SECONDS_DEFAULT,
  GRACE_SECONDS_MAX,
  SCOPES,
  type Scope,
  type StoredToken,
} from '../../tokens/token.ts'
import { createTokenAudit, type TokenEvent } from '../../tokens/token-audit.ts'
import { shortTime } from '../output/plant-output.ts'
import { createTable } from '../output/table.ts'
import { parseChoice, parseCount } from './command-values.ts'

const DAY_MS = 86_400_000
/** More than anybody means. */
const DAYS_MAX = 99_999

const SCOPES_DEFAULT: readonly Scope[] = ['plants:read', 'plants:write']

type LogToken = (event: TokenEvent, stored: Pick<StoredToken, 'id'> & Partial<StoredToken>) => Promise<void>

interface CreateFlags {
  database?: string
  label: string
  scope?: Scope[]
  expiresInDays?: number
}

/** `plantstore token create|list|rotate|revoke`: on the database itself, also beside a running service. */
export function addTokenCommand(program: Command): void {
  const token = program
    .command('token')
    .description('make, list, rotate and revoke the tokens of a store, on the machine where it is')
    .addHelpText('after', '\nExample:\n  plantstore token create --label greenhouse --scope plants:read')
  const database = () => new Option('--database <file or URL>', 'the store (PLANTSTORE_DATABASE)')

  token
    .command('create')
    .description('make a token and print it: it is shown this once')
    .addOption(database())
    .option('--label <text>', 'what it is for', '')
    .addOption(
      new Option('--scope <scope...>', `what it may do (default: ${SCOPES_DEFAULT.join(', ')})`)
        .choices(SCOPES)
        .argParser(parseScopes),
    )
    .option(
      '--expires-in-days <number>',
      'after which it is no longer valid (default: never)',
      parseCount(DAYS_MAX),
    )
    .addHelpText('after', '\nExample:\n  plantstore token create --label greenhouse --scope plants:read')
    .action((flags: CreateFlags) =>
      withStorage(flags.database, async ({ tokens }, note) => {
        const { token: secret, stored } = await issueToken(tokens, wantedToken(flags))
        process.stderr.write(`Token ${stored.id} with ${stored.scopes.join(', ')}. It is shown this once:\n`)
        process.stdout.write(`${secret}\n`)
        await note('created', stored)
      }),
    )

  token
    .command('list')
    .description('list the tokens, the oldest first')
    .addOption(database())
    .addHelpText(
      'after',
      '\nOn a terminal a table; piped, a token a line, tabs between.\n\nExample:\n  plantstore token list',
    )
    .action((flags: { database?: string }) =>
      withStorage(flags.database, async ({ tokens }) => {
        process.stdout.write(tokenTable(await tokens.list()))
      }),
    )

  addRotateCommand(token, database)

  token
    .command('revoke <id>')
    .description('revoke a token for good; running services notice within 5 seconds')
    .addOption(database())
    .addHelpText('after', '\nExample:\n  plantstore token revoke 5YqN0PzGk2a')
    .action((id: string, flags: { database?: string }) =>
      withStorage(flags.database, async ({ tokens }, note) => {
        if (!(await tokens.revoke(id))) throw noToken(id)
        process.stderr.write(`Token ${id} is revoked.\n`)
        await note('revoked', { id })
      }),
    )
}

function addRotateCommand(token: Command, database: () => Option): void {
  token
    .command('rotate <id>')
    .description('give a token a new secret and print it; the one it replaces goes on for a while')
    .addOption(database())
    .option(
      '--grace-seconds <number>',
      'how long the replaced one goes on; 0 ends it within 5 seconds',
      parseCount(GRACE_SECONDS_MAX, 0),
      GRACE_SECONDS_DEFAULT,
    )
    .addHelpText('after', '\nExample:\n  plantstore token rotate 5YqN0PzGk2a --grace-seconds 3600')
    .action((id: string, { database: file, graceSeconds }: { database?: string; graceSeconds: number }) =>
      withStorage(file, async ({ tokens }, note) => {
        const rotated = await rotateToken(tokens, id, graceSeconds)
        if (rotated === 'absent') throw noToken(id)
        if (rotated === 'expired') {
          throw new SetupError(
            `Token ${id} has expired, and a new secret would not make it good again: make another with "plantstore token create".`,
          )
        }
        const rest = graceSeconds === 0 ? 'ends now' : `ends in ${graceSeconds} seconds`
        process.stderr.write(
          `Token ${id} is rotated; the one before ${rest}. The new one is shown this once:\n`,
        )
        process.stdout.write(`${rotated.token}\n`)
        await note('rotated', rotated.stored)
      }),
    )
}

function noToken(id: string): SetupError {
  return new SetupError(`There is no token ${id}: see "plantstore token list".`)
}

async function withStorage(
  database: string | undefined,
  use: (storage: Storage, note: LogToken) => Promise<void>,
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database })
  const storage = await openStorage(config.database, { ...config, mustExistAt: '--database' })
  try {
    await use(storage, (event, stored) => logToken(config.logLevel, event, stored))
  } finally {
    await storage.close()
  }
}

/** Reads one more scope, or several between commas. */
function parseScopes(text: string, before: readonly Scope[] = []): Scope[] {
  return [...before, ...text.split(',').map((scope) => parseChoice(scope, SCOPES) as Scope)]
}

/**
 * Leaves a line for whoever gathers standard error. At a terminal nobody does, and the person there is told in words
 * what was done.
 */
async function logToken(logLevel: string, ...[event, stored]: Parameters<LogToken>): Promise<void> {
  if (process.stderr.isTTY) return
  const { createLog } = await import('../../log.ts')
  const actor = { by: 'command line', userId: process.getuid?.() } as const
  createTokenAudit(await createLog(logLevel)).note(event, stored, actor)
}

function wantedToken({ label, scope: scopes = [...SCOPES_DEFAULT], expiresInDays }: CreateFlags) {
  if (expiresInDays === undefined) return parseNewToken({ label, scopes }, Date.now())
  const expiresAt = new Date(Date.now() + expiresInDays * DAY_MS).toISOString()
  return parseNewToken({ label, scopes, expiresAt }, Date.now())
}

function tokenTable(tokens: readonly StoredToken[]): string {
  const time = (timeMs: number | undefined) =>
    timeMs === undefined ? 'never' : shortTime(new Date(timeMs).toISOString())
  const table = createTable([
    { title: 'ID' },
    { title: 'CREATED' },
    { title: 'EXPIRES' },
    { title: 'LAST USED' },
    { title: 'SCOPES' },
    { title: 'LABEL', mayBeCut: true },
  ])
  return table(
    tokens.map(({ id, createdAtMs, expiresAtMs, lastUsedAtMs, scopes, label }) => [
      id,
      time(createdAtMs),
      time(expiresAtMs),
      time(lastUsedAtMs),
      scopes.join(' '),
      label,
    ]),
  )
}
