// All Chinese texts, in a script of their own: only those who read them load them.
export * as docs from './docs.zh'
export { default as sentences } from './sentences.zh'
export { default as server } from './serverTexts.zh'
export { default as pages } from './zh'
