import type { PlantStore } from '../../../src/plants/plant-store.ts'
import type { TokenStore } from '../../../src/tokens/token-store.ts'
import { type Alteration, type AlteredApp, startAlteredApp } from './start-altered-app.ts'
import type { Lifetime } from './start-app.ts'

/** Methods of the storage that a test replaces. */
type Replacements = Partial<Pick<PlantStore, 'create' | 'get'> & Pick<TokenStore, 'findByHash'>>

interface ReplaceableApp extends AlteredApp {
  /** Runs something while these methods replace those of the storage. */
  instead<Result>(methods: Replacements, run: () => Promise<Result>): Promise<Result>
}

/** Runs the HTTP service over a storage whose methods a test can replace for a while. */
export async function startReplaceableApp(
  test: Lifetime,
  alteration: Omit<Alteration, 'storage'> = {},
): Promise<ReplaceableApp> {
  let replaced: Replacements = {}
  const app = await startAlteredApp(test, {
    ...alteration,
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        create: (...parameters) => (replaced.create ?? real.plants.create)(...parameters),
        get: (id) => (replaced.get ?? real.plants.get)(id),
      },
      tokens: { ...real.tokens, findByHash: (hash) => (replaced.findByHash ?? real.tokens.findByHash)(hash) },
    }),
  })
  return {
    ...app,
    async instead(methods, run) {
      replaced = methods
      try {
        return await run()
      } finally {
        replaced = {}
      }
    },
  }
}
