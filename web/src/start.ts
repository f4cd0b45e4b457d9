// The first script of the page, small and without others: starts what takes time before Vue is there.
import { askEarly } from './early'
import { pageFiles } from './pageFiles'

askEarly(location.hash)
const [, page = 'runs'] = /^#\/run\/[^/]+\/([a-z]+)/.exec(location.hash) ?? []
if (page in pageFiles) void pageFiles[page as keyof typeof pageFiles]()
