import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { NewPlant } from '../../../src/plants/plant.ts'
import { openSqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts'
import { STORAGE_OPTIONS } from '../opened-storage.ts'

// Run as a program this imports without an end, and prints each step once it is stored; imported it starts such a
// process.

export const STEP_PLANTS = 300

/** The plants of a step; each step renames those of the step before, so that a half of it would show. */
export function stepPlants(step: number): NewPlant[] {
  return Array.from({ length: STEP_PLANTS }, (_, at) => ({
    id: BigInt(step * STEP_PLANTS + at - STEP_PLANTS / 2),
    name: `${'🌱é'.repeat((step * 37 + at) % 50)} of step ${step}`,
    tag: `step ${step}`,
  }))
}

export interface ImportProcess {
  /** Kills the process once so many steps were stored, and returns the number of steps that it printed. */
  crashAfter(steps: number): Promise<number>
}

export function startImportProcess(
  owner: { after(end: () => void): void },
  path: string,
  firstStep: number,
): ImportProcess {
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), path, String(firstStep)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  owner.after(() => void child.kill('SIGKILL'))
  return {
    async crashAfter(steps) {
      let printed = 0
      if (child.stdout === null) throw new Error('the process has no output')
      // Until the end of what it wrote, which may be more than was waited for.
      for await (const line of createInterface(child.stdout)) {
        if (line !== `stored ${firstStep + printed}`) throw new Error(`unexpected: ${line}`)
        printed++
        if (printed === steps) child.kill('SIGKILL')
      }
      return printed
    },
  }
}

async function importForEver(path: string, firstStep: number): Promise<void> {
  const { plants } = await openSqliteStorage(path, STORAGE_OPTIONS)
  const importing = plants.openImport({ onConflict: 'replace', dryRun: false })
  const add = async (step: number): Promise<void> => {
    await importing.add(stepPlants(step))
    process.stdout.write(`stored ${step}\n`)
  }
  let before = add(firstStep)
  for (let step = firstStep + 1; ; step++) {
    const next = add(step)
    await before
    before = next
  }
}

if (import.meta.main) await importForEver(process.argv[2] ?? '', Number(process.argv[3]))
