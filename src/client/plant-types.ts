// Written by "npm run client-types" from the schemas in openapi.json; a test compares. Change the schemas.

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
  /** Plants that were added */
  created: number
  /** Plants that were stored already, and are replaced */
  replaced: number
  /** Rows that were passed over, as their id is taken */
  skipped: number
  /** Rows that were refused */
  failed: number
  /** The first 1,000 rows that were refused */
  errors: ImportError[]
}

export interface ImportError {
  /** The line of the text on which the row begins */
  line: number
  /** The id of the row, where it has a legible one */
  id?: bigint
  /** Numeric error code */
  error: number
  /** What is wrong with the row */
  message: string
}

export type ImportEvent =
  /** How far it is: every row before the line is stored, or an error told of it */
  | {
      type: 'progress'
      line: number
      /** Plants that were added */
      created: number
      /** Plants that were stored already, and are replaced */
      replaced: number
      /** Rows that were passed over, as their id is taken */
      skipped: number
      /** Rows that were refused */
      failed: number
    }
  /** A row that was refused */
  | {
      type: 'error'
      /** The line of the text on which the row begins */
      line: number
      /** The id of the row, where it has a legible one */
      id?: bigint
      /** Numeric error code */
      error: number
      /** What is wrong with the row */
      message: string
    }
  /** The last line of an import that read every row */
  | {
      type: 'report'
      /** Plants that were added */
      created: number
      /** Plants that were stored already, and are replaced */
      replaced: number
      /** Rows that were passed over, as their id is taken */
      skipped: number
      /** Rows that were refused */
      failed: number
    }
  /** The last line of an import that could not go on */
  | {
      type: 'failure'
      /** Numeric error code */
      error: number
      /** What is wrong, and how far the import got */
      message: string
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
