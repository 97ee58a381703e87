import type { PlantStoreClient } from './client-interface.ts'
import {
  type ExportFileOptions,
  type ExportPlantsOptions,
  exportFile,
  exportPlants,
} from './export-plants.ts'
import type { FileSource, PlantSource } from './import-body.ts'
import { importPlants } from './import-plants.ts'
import { listPlants } from './list-plants.ts'
import { createPlant, deletePlant, getPlant, replacePlant, updatePlant } from './plant-requests.ts'
import type { Sender } from './send-request.ts'
import {
  countAdditions,
  createToken,
  getHealth,
  getNextId,
  getOwnToken,
  getReadiness,
  listTags,
  listTokens,
  revokeToken,
  rotateToken,
} from './service-requests.ts'

/** The methods of a client, over the sender of its requests. */
export function clientMethods(sender: Sender): PlantStoreClient {
  return {
    createPlant: (plant, callOptions) => createPlant(sender, plant, callOptions),
    getPlant: ((id, callOptions) => getPlant(sender, id, callOptions)) as PlantStoreClient['getPlant'],
    listPlants: (callOptions = {}) => listPlants(sender, callOptions),
    replacePlant: (id, plant, callOptions) => replacePlant(sender, id, plant, callOptions),
    updatePlant: (id, change, callOptions) => updatePlant(sender, id, change, callOptions),
    deletePlant: (id, callOptions) => deletePlant(sender, id, callOptions),
    importPlants: (source: PlantSource | FileSource, callOptions = {}) =>
      importPlants(sender, source, callOptions),
    exportPlants: ((callOptions: ExportPlantsOptions & Partial<ExportFileOptions> = {}) => {
      const { format } = callOptions
      return format === undefined
        ? exportPlants(sender, callOptions)
        : exportFile(sender, { ...callOptions, format })
    }) as PlantStoreClient['exportPlants'],
    getNextId: (callOptions) => getNextId(sender, callOptions),
    listTags: (callOptions) => listTags(sender, callOptions),
    countAdditions: (callOptions) => countAdditions(sender, callOptions),
    listTokens: (callOptions) => listTokens(sender, callOptions),
    createToken: (token, callOptions) => createToken(sender, token, callOptions),
    rotateToken: (id, callOptions) => rotateToken(sender, id, callOptions),
    revokeToken: (id, callOptions) => revokeToken(sender, id, callOptions),
    getOwnToken: (callOptions) => getOwnToken(sender, callOptions),
    getHealth: (callOptions) => getHealth(sender, callOptions),
    getReadiness: (callOptions) => getReadiness(sender, callOptions),
  }
}
