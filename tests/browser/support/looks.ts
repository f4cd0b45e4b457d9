// What can be measured about how a page looks and is operated; runs inside of the page.

export interface Contrast {
  text: string
  ratio: number
  wanted: number
  colours: string
}

// Texts that stand out from their background by less than WCAG wants: 4.5, or 3 where they are large.
export function weakContrasts(): Contrast[] {
  type Colour = [number, number, number, number]
  const parse = (text: string): Colour => {
    const numbers = (text.match(/[\d.]+/g) ?? []).map(Number)
    const scale = text.startsWith('color(') ? 255 : 1
    return [(numbers[0] ?? 0) * scale, (numbers[1] ?? 0) * scale, (numbers[2] ?? 0) * scale, numbers[3] ?? (text === 'transparent' ? 0 : 1)]
  }
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (i: 0 | 1 | 2) => top[i] * top[3] + below[i] * (1 - top[3])
    return [mix(0), mix(1), mix(2), 1]
  }
  const background = (element: Element): Colour => {
    const layers: Colour[] = []
    for (let at: Element | null = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor))
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1] as Colour)
  }
  const luminance = (colour: Colour) => {
    const part = (value: number) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * part(colour[0]) + 0.7152 * part(colour[1]) + 0.0722 * part(colour[2])
  }
  const weak = new Map<string, Contrast>()
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent?.trim()).join(' ').trim()
    if (!text || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue
    if (element.closest('[aria-hidden="true"], :disabled, svg, canvas, [role="img"], [role="application"]')) continue
    const style = getComputedStyle(element)
    const behind = background(element)
    const front = over(parse(style.color), behind)
    const [light, dark] = [luminance(front), luminance(behind)].sort((a, b) => b - a) as [number, number]
    const ratio = (light + 0.05) / (dark + 0.05)
    const size = parseFloat(style.fontSize)
    const wanted = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5
    const colours = `${style.color} on ${behind.slice(0, 3).map(Math.round)}`
    if (ratio < wanted - 0.05) weak.set(colours, { text: text.slice(0, 40), ratio: Math.round(ratio * 100) / 100, wanted, colours })
  }
  return [...weak.values()]
}

// Pixels of the page that lie beside the window, or beside the part of it that scrolls by itself.
export function widthCut(): number {
  const boxes = [document.documentElement, ...document.querySelectorAll('main')]
  return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth))
}

// Controls that somebody who does not see the page could not tell apart.
export function namelessControls(): string[] {
  const nameless: string[] = []
  const controls = 'button, a[href], input, select, textarea, [role="button"], [role="tab"], [role="option"], [role="img"], [role="application"], canvas, progress'
  for (const element of document.querySelectorAll<HTMLElement>(controls)) {
    if (!element.checkVisibility() || element.closest('[aria-hidden="true"]')) continue
    if (element.tagName === 'CANVAS' && element.closest('[role="img"], [role="application"]') !== null) continue // its box has the name
    const labels = (element as HTMLInputElement).labels
    const labelled = element.getAttribute('aria-labelledby')
    const name = [
      element.getAttribute('aria-label'),
      labelled && labelled.split(' ').map((id) => document.getElementById(id)?.textContent).join(' '),
      labels && [...labels].map((label) => label.textContent).join(' '),
      element.title,
      element.tagName === 'SELECT' ? '' : element.textContent,
    ].find((text) => text?.trim())
    if (!name) nameless.push(element.outerHTML.slice(0, 160))
  }
  return nameless
}

// Whether the element that has the focus shows it.
export function focusIsVisible(): boolean {
  const element = document.activeElement
  if (!element || element === document.body) return true
  const style = getComputedStyle(element)
  return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
}

// Where the focus is, in words, and whether it can be seen in the window.
export function focused(): { what: string; seen: boolean } {
  const element = document.activeElement
  if (!element || element === document.body) return { what: 'body', seen: true }
  const box = element.getBoundingClientRect()
  const seen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  return { what: `${element.tagName.toLowerCase()} ${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 30)}`, seen }
}
