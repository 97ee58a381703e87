import { SettingError } from '../errors.ts'
import { isScope, SCOPES, type Scope } from '../tokens/token.ts'

/** What of this service a value in a token of the provider grants. */
export type ScopeMapping = ReadonlyMap<string, readonly Scope[]>

/**
 * Reads the setting `oidcScopeMap`: pairs of a scope of this service and what the provider calls it, between commas. Left
 * out, they are called the same. Throws a SettingError that tells the rule.
 */
export function parseScopeMapping(text: string | undefined): ScopeMapping {
  if (text === undefined) return new Map(SCOPES.map((scope) => [scope, [scope]]))
  const mapping = new Map<string, Scope[]>()
  for (const pair of text.split(',')) {
    const [, scope, value = ''] = /^\s*([^=\s]+)=(\S+)\s*$/.exec(pair) ?? []
    if (!isScope(scope)) {
      throw new SettingError(
        `PLANTSTORE_OIDC_SCOPE_MAP must be pairs such as plants:read=garden.read,plants:write=garden.write with ${SCOPES.join(', ')} on their left, not ${JSON.stringify(pair)}.`,
      )
    }
    mapping.set(value, [...(mapping.get(value) ?? []), scope])
  }
  return mapping
}

/**
 * What a token grants here. The claim is a text with spaces (RFC 8693 §4.2) or a list; it may lie in others:
 * `realm_access.roles`. Where there is no `scope`, `scp` is read, as some providers call it.
 */
export function grantedScopes(
  claims: Readonly<Record<string, unknown>>,
  claimPath: string,
  mapping: ScopeMapping,
): Scope[] {
  const claim = claimAt(claims, claimPath) ?? (claimPath === 'scope' ? claimAt(claims, 'scp') : undefined)
  const values = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : []
  const granted = new Set(values.flatMap((value) => mapping.get(value) ?? []))
  return SCOPES.filter((scope) => granted.has(scope))
}

/** The claim of that name, or the one in another: names may hold dots, as URLs do. */
function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined
  if (Object.hasOwn(claims, path)) return (claims as Record<string, unknown>)[path]
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot)
    if (!Object.hasOwn(claims, name)) continue
    const found = claimAt((claims as Record<string, unknown>)[name], path.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}
