import { describe } from 'node:test'
import { describeAdditions } from './additions-suite.ts'
import { describeImportOrder } from './import-order-suite.ts'
import { describeLastIds } from './last-id-suite.ts'
import { type OpenStorage, shareStorage } from './opened-storage.ts'
import { describeCreates } from './plant-create-suite.ts'
import { describeEdits } from './plant-edit-suite.ts'
import { describeExports } from './plant-export-suite.ts'
import { describeIdempotency } from './plant-idempotency-suite.ts'
import { describeImports } from './plant-import-suite.ts'
import { describePages } from './plant-page-suite.ts'
import { describeSearch } from './plant-search-suite.ts'
import { describeTexts } from './plant-text-suite.ts'
import { describeVersions } from './plant-version-suite.ts'
import { describeSlowExports } from './slow-export-suite.ts'
import { describeTagCounts } from './tag-count-suite.ts'

/** Every promise of PlantStore, to be kept by every engine. */
export function plantStoreSuite(name: string, open: OpenStorage): void {
  describe(`Plants in ${name}`, () => {
    const shared = shareStorage(open)
    describeCreates(shared, open)
    describeEdits(shared)
    describeVersions(open)
    describeIdempotency(open)
    describeTexts(shared)
    describePages(shared)
    describeLastIds(shared)
    describeSearch(shared)
    describeTagCounts(shared)
    describeAdditions(shared, open)
    describeImports(shared)
    describeImportOrder(shared, open)
    describeExports(shared, open)
    describeSlowExports(open)
  })
}
