import type { ComponentChildren } from 'preact'

/** Replaces a word on a phone. The word stays for screen readers. */
function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

/** An arrow that leaves a tray. */
export function ExportIcon() {
  return (
    <Icon>
      <path d="M12 15V4m-4 4 4-4 4 4M4 14v5h16v-5" />
    </Icon>
  )
}

/** An arrow that comes into a tray. */
export function ImportIcon() {
  return (
    <Icon>
      <path d="M12 4v11m-4-4 4 4 4-4M4 14v5h16v-5" />
    </Icon>
  )
}

/** An arrow through a door. */
export function SignOutIcon() {
  return (
    <Icon>
      <path d="M10 12h10m-4-4 4 4-4 4M13 4H5v16h8" />
    </Icon>
  )
}
