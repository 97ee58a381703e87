/** What people copy with a token: the header field, quotation marks. */
const AROUND = /^["'`“”]*(?:authorization\s*:\s*)?["'`“”]*(?:bearer\s+)?["'`“”]*|["'`“”]+$/gi
const OWN_TOKEN = /\bplst_[0-9A-Za-z]{49}\b/

/** The token in a pasted text: alone, after `Bearer`, or in the line that assigns it to a variable. */
export function secretIn(text: string): string {
  return OWN_TOKEN.exec(text)?.[0] ?? text.trim().replace(AROUND, '')
}
