import type { FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import type { Notify } from '../parts/notices.tsx'
import { texts } from '../parts/texts.ts'
import type { ImportDialogProps } from './import-dialog.tsx'

interface OpenDialog {
  Dialog: FunctionComponent<ImportDialogProps>
  file: File | undefined
}

/** The dialog of the import, which is loaded when it is first opened, and what opens it for a file that is dropped. */
export function useImportDialog(notify: Notify) {
  const [dialog, setDialog] = useState<OpenDialog>()
  const [isOver, setOver] = useState(false)

  async function open(file: File | undefined) {
    try {
      const { ImportDialog } = await import('./import-dialog.tsx')
      setDialog({ Dialog: ImportDialog, file })
    } catch {
      notify({ text: texts.import.notLoaded, isFailure: true })
    }
  }

  // A field that takes files itself does so as well while the dialog is open.
  const hasFile = ({ dataTransfer, target }: DragEvent) =>
    dataTransfer?.types.includes('Files') === true && !(target instanceof HTMLInputElement && target.files)
  const dropping = {
    onDragOver(event: DragEvent) {
      if (!hasFile(event)) return
      event.preventDefault()
      // One that is under way is not put aside.
      setOver(dialog === undefined)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      if (!hasFile(event)) return
      event.preventDefault()
      setOver(false)
      if (event.dataTransfer === null || dialog !== undefined) return
      const { files, items } = event.dataTransfer
      const isFolder = items[0]?.webkitGetAsEntry()?.isDirectory === true
      const [file] = files
      if (isFolder || files.length > 1) notify({ text: texts.import.oneFile, isFailure: true })
      else if (file !== undefined) void open(file)
    },
  }
  return { dialog, isOver, dropping, open, close: () => setDialog(undefined) }
}
