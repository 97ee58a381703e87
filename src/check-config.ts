import { backedUpFile } from './backups/scheduled-backups.ts'
import type { Config } from './config/read-config.ts'
import { createSettingProblems } from './config/setting-problems.ts'
import { SETTINGS } from './config/settings.ts'
import { SettingError } from './errors.ts'
import { checkDatabase } from './storage/open-storage.ts'
import { isWellFormedToken } from './tokens/token.ts'

/**
 * Checks settings that are valid by themselves: whether they are consistent, and the service can use them. Throws a
 * SettingError with a line for each problem.
 */
export async function checkConfig(config: Config): Promise<void> {
  const problems = createSettingProblems()
  problems.collect(() => checkDatabase(config.database))
  for (const check of [checkFixedToken, checkOpenId, checkTlsPair, checkNoTlsOnSocket, checkBackupDir]) {
    problems.collect(() => check(config))
  }
  const { oidcIssuer, oidcScopeMap } = config
  if (oidcIssuer !== undefined && oidcScopeMap !== undefined) {
    const { parseScopeMapping } = await import('./identity/granted-scopes.ts')
    problems.collect(() => parseScopeMapping(oidcScopeMap))
  }
  problems.throwIfAny()
}

/** A token of a store, copied here, would have every scope and stay valid after it expires or is revoked. */
function checkFixedToken({ fixedToken }: Config): void {
  if (fixedToken === undefined || !isWellFormedToken(fixedToken)) return
  throw new SettingError(
    'PLANTSTORE_FIXED_TOKEN is a token that a store created. Here it would have every scope and could not be revoked. Choose another secret. The command line reads its token from PLANTSTORE_TOKEN.',
  )
}

function checkOpenId({ oidcIssuer, oidcAudience, oidcScopeMap, oidcScopeClaim }: Config): void {
  if (oidcIssuer !== undefined) {
    if (oidcAudience !== undefined) return
    throw new SettingError(
      'PLANTSTORE_OIDC_ISSUER needs PLANTSTORE_OIDC_AUDIENCE: the claim aud of the tokens that the provider issues for this service.',
    )
  }
  const isElsewhere = oidcScopeClaim !== SETTINGS.oidcScopeClaim.default
  if (oidcAudience === undefined && oidcScopeMap === undefined && !isElsewhere) return
  const has =
    oidcAudience !== undefined ? 'AUDIENCE' : oidcScopeMap !== undefined ? 'SCOPE_MAP' : 'SCOPE_CLAIM'
  throw new SettingError(
    `PLANTSTORE_OIDC_${has} needs PLANTSTORE_OIDC_ISSUER: without it no JWT is accepted.`,
  )
}

function checkTlsPair({ tlsCert, tlsKey }: Config): void {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return
  const [has, lacks] = tlsCert === undefined ? ['KEY', 'CERT'] : ['CERT', 'KEY']
  throw new SettingError(
    `PLANTSTORE_TLS_${has} needs PLANTSTORE_TLS_${lacks}: TLS takes a certificate and its key.`,
  )
}

function checkNoTlsOnSocket({ tlsCert, tlsKey, socket }: Config): void {
  if (socket === undefined || tlsCert === undefined || tlsKey === undefined) return
  throw new SettingError(
    'PLANTSTORE_SOCKET cannot be combined with PLANTSTORE_TLS_CERT and PLANTSTORE_TLS_KEY: a Unix socket takes no TLS.',
  )
}

function checkBackupDir({ backupDir, database }: Config): void {
  if (backupDir !== undefined) backedUpFile(database)
}
