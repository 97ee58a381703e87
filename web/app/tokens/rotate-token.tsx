import { useState } from 'preact/hooks'
import type { Token } from '../../../src/client/plant-store-client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { useSubmit } from '../parts/use-submit.ts'
import type { Session } from '../session/session.ts'
import { TokenSecret } from './token-secret.tsx'
import { tokenTexts as words } from './token-texts.ts'

const GRACES = Object.entries(words.graces).map(([seconds, label]) => ({ seconds: Number(seconds), label }))
/** A day, as the service has it by default: long enough to bring the new secret to a tablet in the greenhouse. */
const GRACE_SECONDS_DEFAULT = 86_400

interface RotateTokenProps {
  session: Session
  token: Token
  onRotated(): void
  onClose(): void
}

/** Gives a token a new secret, which is shown this once; the old one goes on for a time of grace. */
export function RotateToken({ session, token, onRotated, onClose }: RotateTokenProps) {
  const [graceSeconds, setGraceSeconds] = useState(GRACE_SECONDS_DEFAULT)
  const [secret, setSecret] = useState<string>()
  const sending = useSubmit([])
  const isOwn = token.id === session.token.id
  const rotate = () =>
    sending.send(async () => {
      const rotated = await session.client.rotateToken(token.id, { graceSeconds })
      if (isOwn) session.renew(rotated.token)
      setSecret(rotated.token)
      onRotated()
    })
  return (
    <Dialog
      title={secret === undefined ? words.rotateTitle : words.secretTitle}
      isHeld={sending.isBusy || secret !== undefined}
      onClose={onClose}
    >
      {secret === undefined ? (
        <Form
          sending={sending}
          label={words.rotate}
          busyLabel={words.rotating}
          isHeld
          onSend={() => void rotate()}
          onClose={onClose}
        >
          <p class="long" dir="auto">
            {words.rotateLead(token.label || words.noLabel)}
          </p>
          {isOwn && <p>{words.rotateOwn}</p>}
          <fieldset class="field" aria-describedby="grace-hint">
            <legend>{words.grace}</legend>
            {GRACES.map(({ seconds, label }) => (
              <div key={seconds} class="choice">
                <input
                  id={`grace-${seconds}`}
                  type="radio"
                  name="grace"
                  checked={seconds === graceSeconds}
                  data-first={seconds === GRACE_SECONDS_DEFAULT ? '' : undefined}
                  onChange={() => setGraceSeconds(seconds)}
                />
                <label for={`grace-${seconds}`}>{label}</label>
              </div>
            ))}
            <span id="grace-hint" class="hint">
              {words.graceHint}
            </span>
          </fieldset>
        </Form>
      ) : (
        <TokenSecret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  )
}
