import { SettingError } from '../errors.ts'
import { isScope, SCOPES, type Scope } from '../tokens/token.ts'

/** The scopes of this service by a value in a token of the provider. */
export type ScopeMapping = ReadonlyMap<string, readonly Scope[]>

/**
 * Parses the setting `oidcScopeMap`: comma-separated pairs of a scope of this service and the provider's name for it.
 * By default the names are the same. Throws a SettingError with the rule.
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
 * The scopes that a token grants. The claim is a text with spaces (RFC 8693 §4.2) or a list; it may be nested, such as
 * `realm_access.roles`. Without `scope`, `scp` is read: some providers use that name.
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

/** The claim with that name, or a nested one. Names may contain dots, as URLs do. */
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
