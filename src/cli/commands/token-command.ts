import { type Command, Option } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { SetupError } from '../../errors.ts'
import { printableLines } from '../../printable.ts'
import { openStorage } from '../../storage/open-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import { issueToken, rotateToken } from '../../tokens/issue-token.ts'
import { parseNewToken } from '../../tokens/new-token.ts'
import {
  GRACE_SECONDS_DEFAULT,
  GRACE_SECONDS_MAX,
  SCOPES,
  type Scope,
  type StoredToken,
  tokenResponse,
} from '../../tokens/token.ts'
import { createTokenAudit, type TokenEvent } from '../../tokens/token-audit.ts'
import type { CommandContext, OutputStream } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { reportMigration } from '../output/migration-text.ts'
import { type JsonFlag, shortTime } from '../output/plant-output.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { sentences } from '../output/sentences.ts'
import { OutputFailure, print } from '../output/standard-output.ts'
import { createTable } from '../output/table.ts'
import { databaseOption, parseChoice, parseCount } from './command-values.ts'

const DAY_MS = 86_400_000
/** Nearly 274 years. */
const DAYS_MAX = 99_999

const SCOPES_DEFAULT: readonly Scope[] = ['plants:read', 'plants:write']

const EXAMPLE = '\nExample:\n  plantstore token create --label greenhouse --scope plants:read'

type LogToken = (event: TokenEvent, stored: Pick<StoredToken, 'id'> & Partial<StoredToken>) => Promise<void>

interface DatabaseFlag extends QuietFlag {
  database?: string
}

interface CreateFlags extends DatabaseFlag {
  label?: string
  scope?: Scope[]
  expiresInDays?: number
}

/** `plantstore token create|list|rotate|revoke`: opens the database itself, also while a service runs on it. */
export function addTokenCommand(program: Command, context: CommandContext): void {
  const token = program
    .command('token')
    .description('Create, list, rotate and revoke tokens')
    .helpCommand('help [command]', 'Print help for a command')
    .addHelpText('after', `\nOpens the database itself, also while the service runs.\n${EXAMPLE}`)

  addCreateCommand(token, context)
  addListCommand(token, context)
  addRotateCommand(token, context)
  addRevokeCommand(token, context)
}

function addCreateCommand(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('Create a token and print it; it is shown only once')
    .addOption(databaseOption('file or URL'))
    .option('--label <text>', 'Purpose of the token')
    .addOption(
      new Option('--scope <scope...>', `What the token allows (default: ${SCOPES_DEFAULT.join(', ')})`)
        .choices(SCOPES)
        .argParser(parseScopes),
    )
    .option(
      '--expires-in-days <number>',
      'Days until the token expires (default: never)',
      parseCount(DAYS_MAX),
    )
    .addOption(quietOption())
    .addHelpText('after', EXAMPLE)
    .action((flags: CreateFlags) =>
      withStorage(context, flags, async ({ tokens }, log) => {
        const { token: secret, stored } = await issueToken(tokens, newTokenOf(flags))
        messageStream(context, flags).write(
          `Token ${stored.id} with ${stored.scopes.join(', ')}. It is shown only once:\n`,
        )
        await log('created', stored)
        try {
          await print(context.stdout, `${secret}\n`)
        } catch (error) {
          await tokens.revoke(stored.id)
          await log('revoked', stored)
          throw notPrinted(error, `Token ${stored.id} is revoked again.`)
        }
      }),
    )
}

function addListCommand(token: Command, context: CommandContext): void {
  token
    .command('list')
    .description('List the tokens, oldest first')
    .addOption(databaseOption('file or URL'))
    .option('--json', 'Print a JSON object per line (NDJSON)')
    .addHelpText(
      'after',
      '\nPrints a table on a terminal. In a pipe prints a line per token, fields separated by tabs.\n\nExamples:\n  plantstore token list\n  plantstore token list --json',
    )
    .action((flags: DatabaseFlag & JsonFlag) =>
      withStorage(context, flags, async ({ tokens }) => {
        const list = await tokens.list()
        const text = flags.json ? list.map(tokenLine).join('') : tokenTable(list, context.stdout)
        await print(context.stdout, text)
      }),
    )
}

function addRevokeCommand(token: Command, context: CommandContext): void {
  token
    .command('revoke <id>')
    .description('Revoke a token; running services reject it within 5 seconds')
    .addOption(databaseOption('file or URL'))
    .addOption(quietOption())
    .addHelpText('after', '\nExample:\n  plantstore token revoke 5YqN0PzGk2a')
    .action((id: string, flags: DatabaseFlag) =>
      withStorage(context, flags, async ({ tokens }, log) => {
        if (!(await tokens.revoke(id))) throw noSuchToken(id)
        messageStream(context, flags).write(`Token ${id} is revoked.\n`)
        await log('revoked', { id })
      }),
    )
}

function addRotateCommand(token: Command, context: CommandContext): void {
  token
    .command('rotate <id>')
    .description('Replace the secret of a token and print the new one')
    .addOption(databaseOption('file or URL'))
    .option(
      '--grace-seconds <number>',
      'Grace period of the old secret; 0: it expires within 5 seconds',
      parseCount(GRACE_SECONDS_MAX, 0),
      GRACE_SECONDS_DEFAULT,
    )
    .addOption(quietOption())
    .addHelpText('after', '\nExample:\n  plantstore token rotate 5YqN0PzGk2a --grace-seconds 3600')
    .action((id: string, { graceSeconds, ...flags }: DatabaseFlag & { graceSeconds: number }) =>
      withStorage(context, flags, async ({ tokens }, log) => {
        const rotated = await rotateToken(tokens, id, graceSeconds)
        if (rotated === 'absent') throw noSuchToken(id)
        if (rotated === 'expired') {
          throw new SetupError(
            `Token ${id} has expired and cannot be rotated. Create another one with "plantstore token create".`,
          )
        }
        const expiry = graceSeconds === 0 ? 'expires now' : `expires in ${graceSeconds} seconds`
        messageStream(context, flags).write(
          `Token ${id} is rotated; the old secret ${expiry}. The new one is shown only once:\n`,
        )
        await log('rotated', rotated.stored)
        await print(context.stdout, `${rotated.token}\n`).catch((error: unknown) => {
          throw notPrinted(error, `The new secret of token ${id} is lost: rotate it again.`)
        })
      }),
    )
}

/** A closed pipe, too, is a failure: nobody has the secret. */
function notPrinted(error: unknown, state: string): unknown {
  return error instanceof OutputFailure ? new CommandFailure(sentences(error.message, state)) : error
}

function noSuchToken(id: string): SetupError {
  return new SetupError(`There is no token ${id}. See "plantstore token list".`)
}

async function withStorage(
  { environment, stderr }: CommandContext,
  { database }: DatabaseFlag,
  use: (storage: Storage, log: LogToken) => Promise<void>,
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database }, environment)
  const storage = await openStorage(config.database, {
    ...config,
    mustExistAt: '--database',
    onMigrated: reportMigration(stderr, config.database),
  })
  try {
    await use(storage, (event, stored) => logToken(config.logLevel, stderr, event, stored))
  } finally {
    await storage.close()
  }
}

/** Parses one more scope, or several between commas. */
function parseScopes(text: string, before: readonly Scope[] = []): Scope[] {
  return [...before, ...text.split(',').map((scope) => parseChoice(scope, SCOPES) as Scope)]
}

/** Writes an audit line, except on a terminal: there the messages of the command suffice. */
async function logToken(
  logLevel: string,
  stderr: OutputStream,
  ...[event, stored]: Parameters<LogToken>
): Promise<void> {
  if (stderr.isTTY) return
  const { createLog } = await import('../../log.ts')
  const actor = { by: 'command line', userId: process.getuid?.() } as const
  createTokenAudit(await createLog(logLevel, stderr)).logChange(event, stored, actor)
}

function newTokenOf({ label = '', scope: scopes = [...SCOPES_DEFAULT], expiresInDays }: CreateFlags) {
  if (expiresInDays === undefined) return parseNewToken({ label, scopes }, Date.now())
  const expiresAt = new Date(Date.now() + expiresInDays * DAY_MS).toISOString()
  return parseNewToken({ label, scopes, expiresAt }, Date.now())
}

/** A token as the service's own responses have it, on a line. */
function tokenLine(token: StoredToken): string {
  return `${printableLines(JSON.stringify(tokenResponse(token)))}\n`
}

function tokenTable(tokens: readonly StoredToken[], stdout: OutputStream): string {
  const time = (timeMs: number | undefined) =>
    timeMs === undefined ? 'never' : shortTime(new Date(timeMs).toISOString())
  const table = createTable(
    [
      { title: 'ID' },
      { title: 'CREATED' },
      { title: 'EXPIRES' },
      { title: 'LAST USED' },
      { title: 'SCOPES' },
      { title: 'LABEL', isTruncatable: true },
    ],
    stdout,
  )
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
