import { createApp } from 'vue'

import App from './App.vue'
import { applyLanguage } from './locale'
import { applyTheme } from './preferences'
import { router } from './router'
import './theme.css'

applyTheme()
applyLanguage()
createApp(App).use(router).mount('#app')
