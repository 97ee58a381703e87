import { useEffect, useRef, useState } from 'preact/hooks'
import { isAbort } from '../parts/failure-text.ts'
import { useLeaveWarning } from '../parts/use-leave-warning.ts'
import type { Session } from '../session/session.ts'
import { type CheckReport, checkFile } from './check-file.ts'
import { importFailureText } from './import-result.tsx'
import type { ImportEnd } from './import-run.ts'
import { guessSettings, type ImportSettings } from './import-settings.ts'
import { type ImportSource, openSource } from './import-source.ts'
import { importTexts } from './import-texts.ts'
import { useImportRun } from './use-import-run.ts'

/** Where somebody is on the way from a file to plants. */
export type ImportStage =
  | { is: 'choosing'; failure: string; isOpening: boolean }
  | { is: 'settling'; checked?: CheckReport | undefined; failure: string }
  | { is: 'checking'; share: number }
  | { is: 'importing'; isStopping: boolean }
  | { is: 'ended'; end: ImportEnd }

export interface UseImportOptions {
  session: Session
  /** Opened at once. */
  file: File | undefined
  /** Called when an import has come to an end, also one that failed. */
  onStored(): void
}

/** An import from the choice of the file to its result. */
export function useImport({ session, file, onStored }: UseImportOptions) {
  const [stage, setStage] = useState<ImportStage>({
    is: 'choosing',
    failure: '',
    isOpening: file !== undefined,
  })
  const [chosen, setChosen] = useState<{ source: ImportSource; settings: ImportSettings }>()
  const check = useRef<AbortController>(undefined)
  const run = useImportRun((end) => {
    setStage({ is: 'ended', end })
    onStored()
  })
  useEffect(() => {
    if (file !== undefined) void open(file)
    return () => check.current?.abort()
  }, [])
  useLeaveWarning(stage.is === 'importing')

  async function open(opened: File) {
    setStage({ is: 'choosing', failure: '', isOpening: true })
    try {
      const source = await openSource(opened)
      setChosen({ source, settings: guessSettings(source) })
      setStage({ is: 'settling', failure: '' })
    } catch (error) {
      setStage({ is: 'choosing', failure: importFailureText(error), isOpening: false })
    }
  }
  async function startCheck() {
    if (chosen === undefined) return
    const controller = new AbortController()
    const { signal } = controller
    check.current = controller
    setStage({ is: 'checking', share: 0 })
    try {
      const onShare = (share: number) => signal.aborted || setStage({ is: 'checking', share })
      const checked = await checkFile({ ...chosen, session, signal, onShare })
      setStage({ is: 'settling', checked, failure: '' })
    } catch (error) {
      setStage({
        is: 'settling',
        failure: isAbort(error) ? '' : `${importFailureText(error)} ${importTexts.onlyChecked}`,
      })
    }
  }
  function startImport() {
    if (chosen === undefined) return
    setStage({ is: 'importing', isStopping: false })
    void run.start({ ...chosen, client: session.client })
  }
  return {
    ...{ stage, chosen, told: run.told, refusedFile: run.refusedFile, open, startCheck, startImport },
    changeSettings(settings: ImportSettings) {
      if (chosen !== undefined) setChosen({ ...chosen, settings })
      setStage({ is: 'settling', failure: '' })
    },
    goOn() {
      setStage({ is: 'importing', isStopping: false })
      void run.go()
    },
    chooseAnother: () => setStage({ is: 'choosing', failure: '', isOpening: false }),
    /** Ends what is under way, if something is. */
    stop() {
      if (stage.is === 'checking') check.current?.abort()
      if (stage.is !== 'importing') return
      run.stop()
      setStage({ is: 'importing', isStopping: true })
    },
  }
}
