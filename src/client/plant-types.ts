// Written by "npm run client-types" from the schemas in openapi.json; a test compares. Change the schemas.

/** The members of a Plant. */
export const PLANT_MEMBERS = ['name', 'tag'] as const satisfies readonly (keyof Plant)[]

export interface Plant {
  /** The name of the plant, a string without U+0000 and lone surrogates, kept as sent */
  name: string
  /** Tag that specifies the type of the plant, a string without U+0000 and lone surrogates */
  tag?: string
}

export interface NewPlant extends Plant {
  /** Identification number of the plant */
  id: bigint
}

export interface StoredPlant {
  /** Identification number of the plant */
  id: bigint
  /** The name of the plant, a string without U+0000 and lone surrogates, kept as sent */
  name: string
  /** Absent when the plant has none, never null */
  tag?: string
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  updatedAt: string
}

export interface PlantUpdate {
  /** The name of the plant, a string without U+0000 and lone surrogates, kept as sent */
  name?: string
  /** The new tag; null removes it */
  tag?: string | null
}

export interface ImportReport {
  /** Plants created */
  created: number
  /** Plants replaced */
  replaced: number
  /** Rows skipped, because their id is already used */
  skipped: number
  /** Rows that failed */
  failed: number
  /** The first 1,000 failed rows */
  errors: ImportError[]
}

export interface ImportError {
  /** The line on which the row begins, from 1 */
  line: number
  /** The id of the row, where it has a valid one */
  id?: bigint
  /** Numeric error code */
  error: number
  /** What is wrong with the row */
  message: string
  /** The fields that fail validation. Absent when the row failed for another reason. */
  fields?: FieldError[]
}

export type ImportEvent =
  /** Progress: every row before the line is stored, or was reported as an error */
  | {
      type: 'progress'
      line: number
      /** Plants created */
      created: number
      /** Plants replaced */
      replaced: number
      /** Rows skipped, because their id is already used */
      skipped: number
      /** Rows that failed */
      failed: number
    }
  /** A failed row */
  | {
      type: 'error'
      /** The line on which the row begins, from 1 */
      line: number
      /** The id of the row, where it has a valid one */
      id?: bigint
      /** Numeric error code */
      error: number
      /** What is wrong with the row */
      message: string
      /** The fields that fail validation. Absent when the row failed for another reason. */
      fields?: FieldError[]
    }
  /** The last line of an import that read every row */
  | {
      type: 'report'
      /** Plants created */
      created: number
      /** Plants replaced */
      replaced: number
      /** Rows skipped, because their id is already used */
      skipped: number
      /** Rows that failed */
      failed: number
    }
  /** The last line of an import that failed */
  | {
      type: 'failure'
      /** Numeric error code */
      error: number
      /** Why the import ended */
      message: string
      /** How far the import got */
      details: ErrorDetails
    }

export interface ImportCounts {
  /** Plants created */
  created: number
  /** Plants replaced */
  replaced: number
  /** Rows skipped, because their id is already used */
  skipped: number
  /** Rows that failed */
  failed: number
}

export interface TagCount {
  tag: string
  count: number
}

export interface DayCount {
  /** From midnight to midnight UTC */
  day: string
  count: number
}

export interface Additions {
  /** When the count began. Plants that were added or removed since may be in it or not. */
  countedAt: string
  /** The days on which plants were added, in order. A day without any is not among them. */
  days: DayCount[]
}

export interface Token {
  /** Names the token in the API; it is not the token */
  id: string
  /** What the token is for */
  label: string
  scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[]
  createdAt: string
  /** Absent when the token does not expire */
  expiresAt?: string
  /** To the minute; absent when never used */
  lastUsedAt?: string
}

export interface NewToken {
  /** What the token is for */
  label?: string
  scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[]
  /** RFC 3339, in the future */
  expiresAt?: string
}

export interface CreatedToken {
  /** Names the token in the API; it is not the token */
  id: string
  /** What the token is for */
  label: string
  scopes: ('plants:read' | 'plants:write' | 'tokens:manage' | 'metrics:read')[]
  createdAt: string
  /** Absent when the token does not expire */
  expiresAt?: string
  /** To the minute; absent when never used */
  lastUsedAt?: string
  /** The bearer token: shown this once, kept by the service as a hash only */
  token: string
}

export interface Readiness {
  status: 'ready'
  /** The version of the service */
  version: string
  /** What keeps the plants */
  engine: 'sqlite' | 'postgres'
  /** Failing since the storage refused the last commit, its disk being full, say; what reads works */
  writes: 'working' | 'failing'
}

export interface TokenRotation {
  /** How long the replaced token goes on; 0 ends it at once */
  graceSeconds?: number
}

export interface FieldError {
  /** The field; empty for the body or the row as a whole */
  name: string
  /** The rule that it violates */
  rule: 'required' | 'object' | 'array' | 'string' | 'integer' | 'int64' | 'well-formed' | 'single-line' | 'min' | 'max' | 'min-items' | 'max-items' | 'max-length' | 'one-of' | 'unique' | 'date-time' | 'future' | 'same-as-path' | 'utf-8'
  /** The line of the row in an import */
  line?: number
}

export interface ErrorDetails {
  /** The fields that fail validation */
  fields?: FieldError[]
  /** The path, query or header parameter at fault */
  parameter?: string
  /** The setting of the service to change */
  setting?: string
  /** The line at which an import ended; the rows before it were handled */
  line?: number
  /** What happened to the rows of an import before `line` */
  counts?: ImportCounts
  /** What happened to a write that failed: nothing was stored (`none`), the rows of an import before `line` were stored and none from there on (`stored-before-line`), or it may or may not have been stored (`unknown`) */
  outcome?: 'none' | 'stored-before-line' | 'unknown'
}
