import type { Page } from 'playwright-core'

/**
 * Elements that do not fit the window, a line each: those that scroll sideways, overflow an edge, or are clipped
 * without an ellipsis. Elements only for screen readers may be anywhere, and the preview of a file may be wider.
 */
export async function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const EXEMPT = '.skip, .unseen, .preview, datalist, option, input'
    const found = []
    const report = (element, fault) =>
      found.push(element.localName + '.' + element.className + ' "' + element.textContent.slice(0, 40) + '" ' + fault)
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page is scrolled sideways')
    const isShortened = (style) => style.textOverflow === 'ellipsis'
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')

    /** The ancestor that clips a text without an ellipsis. */
    function hider(element, box) {
      for (let outer = element; outer !== null; outer = outer.parentElement) {
        const style = getComputedStyle(outer)
        if (isShortened(style) || /auto|scroll/.test(style.overflowY)) return undefined
        const isClipping = style.overflow !== 'visible' || /paint|strict/.test(style.contain)
        const edge = outer.getBoundingClientRect()
        if (isClipping && (box.bottom > edge.bottom + 1 || box.right > edge.right + 1 || box.left < edge.left - 1)) {
          return outer
        }
      }
    }

    for (const element of document.body.querySelectorAll('*')) {
      const box = element.getBoundingClientRect()
      if (!element.checkVisibility() || box.width === 0 || element.closest(EXEMPT)) continue
      const style = getComputedStyle(element)
      // On a phone some words are only for screen readers.
      if (style.clipPath === 'inset(50%)') continue
      if (box.left < -1 || box.right > innerWidth + 1) {
        if (hider(element.parentElement, { ...box.toJSON(), bottom: 0 }) === undefined) {
          const shortener = element.closest('.cell, .mark, .who')
          if (shortener === null || shortener === element) report(element, 'overflows an edge')
        }
      }
      const isTooWide = style.display !== 'inline' && element.scrollWidth > element.clientWidth + 1
      if (isTooWide && !isShortened(style)) report(element, 'is narrower than its content')
      // A truncated text keeps about five letters.
      const isSliver = isTooWide && element.clientWidth < 3 * Number.parseFloat(style.fontSize)
      if (isSliver && hasText(element)) report(element, 'is only a sliver')
      if (hasText(element)) {
        const range = document.createRange()
        range.selectNodeContents(element)
        if (hider(element, range.getBoundingClientRect())) report(element, 'is clipped')
      }
    }
    const dialog = [...document.querySelectorAll('dialog[open]')].at(-1)
    if (dialog) {
      const { top, bottom } = dialog.getBoundingClientRect()
      if (top < 0 || bottom > innerHeight) report(dialog, 'is higher than the window')
    }
    return found
  })()`)
}
