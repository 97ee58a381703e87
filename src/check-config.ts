import { backedUpFile } from './backups/scheduled-backups.ts'
import type { Config } from './config/read-config.ts'
import { createSettingProblems } from './config/setting-problems.ts'
import { SETTINGS } from './config/settings.ts'
import { SettingError } from './errors.ts'
import { checkDatabase } from './storage/open-storage.ts'
import { isWellFormedToken } from './tokens/token.ts'

/**
 * Whether settings that are fine by themselves go together, and name what the service can use. Throws a SettingError,
 * with a line for each that does not.
 */
export async function checkConfig(config: Config): Promise<void> {
  const wrong = createSettingProblems()
  wrong.note(() => checkDatabase(config.database))
  for (const refuse of [
    refuseStoredToken,
    refuseHalfOfOpenId,
    refuseHalfOfTls,
    refuseTlsOnSocket,
    refuseBackupsOfNoFile,
  ]) {
    wrong.note(() => refuse(config))
  }
  const { oidcIssuer, oidcScopeMap } = config
  if (oidcIssuer !== undefined && oidcScopeMap !== undefined) {
    const { parseScopeMapping } = await import('./identity/granted-scopes.ts')
    wrong.note(() => parseScopeMapping(oidcScopeMap))
  }
  wrong.refuse()
}

/** A token of a store, copied here, would have every scope, and be valid after it is revoked or expires. */
function refuseStoredToken({ fixedToken }: Config): void {
  if (fixedToken === undefined || !isWellFormedToken(fixedToken)) return
  throw new SettingError(
    'PLANTSTORE_FIXED_TOKEN is a token created by a store: here it would have every scope, and could not be revoked. Choose another secret. The token of the command line is PLANTSTORE_TOKEN.',
  )
}

function refuseHalfOfOpenId({ oidcIssuer, oidcAudience, oidcScopeMap, oidcScopeClaim }: Config): void {
  if (oidcIssuer !== undefined) {
    if (oidcAudience !== undefined) return
    throw new SettingError(
      'PLANTSTORE_OIDC_ISSUER needs PLANTSTORE_OIDC_AUDIENCE, too: the name under which the provider makes tokens for this service (their claim aud).',
    )
  }
  const isElsewhere = oidcScopeClaim !== SETTINGS.oidcScopeClaim.default
  if (oidcAudience === undefined && oidcScopeMap === undefined && !isElsewhere) return
  const has =
    oidcAudience !== undefined ? 'AUDIENCE' : oidcScopeMap !== undefined ? 'SCOPE_MAP' : 'SCOPE_CLAIM'
  throw new SettingError(
    `PLANTSTORE_OIDC_${has} needs PLANTSTORE_OIDC_ISSUER, too: without it no JWT is let in. Or leave it out.`,
  )
}

function refuseHalfOfTls({ tlsCert, tlsKey }: Config): void {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return
  const [has, lacks] = tlsCert === undefined ? ['KEY', 'CERT'] : ['CERT', 'KEY']
  throw new SettingError(
    `PLANTSTORE_TLS_${has} needs PLANTSTORE_TLS_${lacks}, too: a certificate is nothing without its key.`,
  )
}

function refuseTlsOnSocket({ tlsCert, tlsKey, socket }: Config): void {
  if (socket === undefined || tlsCert === undefined || tlsKey === undefined) return
  throw new SettingError(
    'PLANTSTORE_SOCKET is for this machine alone and takes no TLS: leave it out, or PLANTSTORE_TLS_CERT and PLANTSTORE_TLS_KEY.',
  )
}

function refuseBackupsOfNoFile({ backupDir, database }: Config): void {
  if (backupDir !== undefined) backedUpFile(database)
}
