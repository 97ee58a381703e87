/**
 * The path that the target of a request names, without its query. A target may be a whole URL (RFC 9112
 * §3.2.2).
 */
export function requestPath(target: string): string {
  const [withoutQuery = ''] = target.split('?', 1)
  return withoutQuery.replace(/^https?:\/\/[^/]*/i, '')
}
