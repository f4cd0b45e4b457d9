// What drawing needs besides the scene; kept from frame to frame.
import { Painter } from './paint'
import { Palette } from './palette'
import type { StepsOf } from './scene'
import type { TimelineStore } from './store'
import { TextFitter } from './text'

export const fonts = { lane: '11px system-ui, sans-serif', head: '12px system-ui, sans-serif', group: '600 12px system-ui, sans-serif' }

export interface Tools {
  store: TimelineStore
  palette: Palette
  painter: Painter
  text: TextFitter // for fonts.lane
  headText: TextFitter // for fonts.head
  words: { step: string; steps: (of: StepsOf) => string }
}

export function makeTools(store: TimelineStore, words: Tools['words']): Tools {
  const context = document.createElement('canvas').getContext('2d')
  const measure = (font: string) => (text: string) => {
    if (!context) return 7 * text.length
    context.font = font
    return context.measureText(text).width
  }
  return { store, words, palette: new Palette(), painter: new Painter(), text: new TextFitter(measure(fonts.lane)), headText: new TextFitter(measure(fonts.head)) }
}
